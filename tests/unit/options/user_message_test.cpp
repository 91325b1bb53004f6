// An error as a user reads it: the sentence, and the options that mend it.
#include <gtest/gtest.h>

#include <new>

#include "base/error.hpp"
#include "options/schema.hpp"

namespace ranklab::options {
namespace {

TEST(Told, NamesTheOptionsBehindTheSentence) {
    EXPECT_EQ(user_message("0 workers write nothing; use 1 or more", {"workers"}),
              "0 workers write nothing; use 1 or more (--workers)");
    EXPECT_EQ(user_message("there is no GPU", {"device cpu", "backend mpi"}),
              "there is no GPU (--device cpu, --backend mpi)");
    EXPECT_EQ(user_message("it is damaged", {}), "it is damaged");
}

TEST(Told, GoesIntoBracketsThatAreThere) {
    EXPECT_EQ(user_message("a/b: name another place (mkdir: Read-only file system)", {"output"}),
              "a/b: name another place (mkdir: Read-only file system; --output)");
}

TEST(Told, LeavesVariablesOfTheEnvironmentAsTheyAre) {
    EXPECT_EQ(user_message("no data found; name the folder", {"data-dir", "RANKLAB_DATA"}),
              "no data found; name the folder (--data-dir, RANKLAB_DATA)");
}

TEST(Told, OfAnErrorWithItsContext) {
    base::OptionError error("it is full", {"directory"});
    error.add_context("rung binary");
    EXPECT_EQ(user_message(error), "rung binary: it is full (--directory)");
    EXPECT_NE(user_message(std::bad_alloc()).find("out of memory"), std::string::npos)
        << "what is none of ours, too";
}

}  // namespace
}  // namespace ranklab::options
