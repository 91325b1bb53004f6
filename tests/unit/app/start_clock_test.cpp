// A start that comes no further ends the process; one that does is left alone.
#include "app/start_clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace ranklab::app {
namespace {

TEST(StartClock, EndsAProcessWhoseStartDoesNotEnd) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            StartClock clock(0.1, 0.2);
            clock.comes_to("connecting the ranks");
            for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
        },
        ::testing::ExitedWithCode(5), "connecting the ranks has not ended within 0.2 s: another rank");
}

TEST(StartClock, LeavesAStartAloneThatEnds) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            { const StartClock clock(0.02, 0.05); }
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            std::_Exit(0);
        },
        ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ranklab::app
