#include "host/process.hpp"

#include <gtest/gtest.h>

#include "base/pack.hpp"

namespace ranklab::host {
namespace {

double sum_of(const StartUp& start_up) {
    double sum = 0;
    for (const auto& part : start_up.parts()) sum += part.seconds;
    return sum;
}

TEST(StartUp, IsWhatTheProcessDidSinceItsStart) {
    StartUp start_up;
    const double before = seconds_since_process_start();
    start_up.done("loading");
    start_up.done("opening");
    start_up.finish("the first step");
    const double after = seconds_since_process_start();
    ASSERT_EQ(start_up.parts().size(), 3U);
    EXPECT_EQ(start_up.parts()[0].name, "loading");
    EXPECT_EQ(start_up.parts()[2].name, "the first step");
    EXPECT_GE(start_up.parts()[0].seconds, before);
    EXPECT_NEAR(sum_of(start_up), start_up.seconds(), 1e-9);
    EXPECT_GE(start_up.seconds(), before);
    EXPECT_LE(start_up.seconds(), after);
}

TEST(StartUp, EndsWithItsLastPart) {
    StartUp start_up;
    start_up.finish("the first step");
    const double seconds = start_up.seconds();
    start_up.done("another");
    start_up.finish("the first step of another run");
    EXPECT_EQ(start_up.parts().size(), 1U);
    EXPECT_EQ(start_up.seconds(), seconds);
}

TEST(StartUp, SurvivesTheExchange) {
    StartUp start_up;
    start_up.done("loading");
    const auto parts =
        base::unpacked<std::vector<StartUp::Part>>(base::packed(start_up.parts())).value();
    ASSERT_EQ(parts.size(), 1U);
    EXPECT_EQ(parts[0].name, "loading");
    EXPECT_EQ(parts[0].seconds, start_up.parts()[0].seconds);
}

}  // namespace
}  // namespace ranklab::host
