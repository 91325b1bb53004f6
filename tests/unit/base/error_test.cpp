#include "base/error.hpp"

#include <gtest/gtest.h>

namespace ranklab::base {
namespace {

int code_of(const Error& error) {
    return static_cast<int>(error.code());
}

// The numbers are an interface: scripts test them.
TEST(Error, EachKindHasItsExitCode) {
    EXPECT_EQ(code_of(Error("x")), 1);
    EXPECT_EQ(code_of(OptionError("x")), 2);
    EXPECT_EQ(code_of(DataError("x")), 3);
    EXPECT_EQ(code_of(EnvironmentError("x")), 5);
    EXPECT_EQ(code_of(NcclError("x")), 5);
    EXPECT_EQ(code_of(Hdf5Error("x")), 1);
    EXPECT_EQ(static_cast<int>(ExitCode::below_threshold), 4);
    EXPECT_EQ(static_cast<int>(ExitCode::time_limit), 6);
    EXPECT_EQ(static_cast<int>(ExitCode::invalid_measurement), 7);
    EXPECT_EQ(static_cast<int>(ExitCode::skipped), 77);
}

TEST(Error, GathersContextOnTheWayUp) {
    try {
        try {
            throw DataError("it is truncated");
        } catch (Error& error) {
            error.add_context("labels.gz");
            throw;  // not sliced: the kind survives
        }
    } catch (const DataError& error) {
        EXPECT_STREQ(error.what(), "labels.gz: it is truncated");
        EXPECT_EQ(error.code(), ExitCode::wrong_data);
        return;
    }
    FAIL() << "the kind of the error was lost";
}

TEST(Error, TakesBracesAsTheyAre) {
    Error error("a {} in the text");
    error.add_context("{0}");
    EXPECT_STREQ(error.what(), "{0}: a {} in the text");
}

}  // namespace
}  // namespace ranklab::base
