#include "base/stop_signals.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <functional>

namespace ranklab::base {
namespace {

// Each in a process of its own, since a handler stays and a signal may end it.
void expect_end(const std::function<void()>& work, const testing::ExitedWithCode& as) {
    EXPECT_EXIT(
        {
            work();
            std::exit(0);
        },
        as, "");
}

TEST(StopSignals, EachIsToldByItsName) {
    for (const int signal : kStopSignals) {
        const StopSignals stop;
        std::raise(signal);
        EXPECT_EQ(StopSignals::received(), signal) << signal_name(signal);
        StopSignals::acknowledge();
    }
    EXPECT_EQ(StopSignals::name_of(SIGUSR1), "SIGUSR1");
    EXPECT_EQ(StopSignals::name_of(SIGINT), "Ctrl-C (SIGINT)");
    EXPECT_EQ(signal_name(SIGINT), "SIGINT");
}

TEST(StopSignalsDeathTest, AWarningIsAWishHoweverOftenItComes) {
    expect_end(
        [] {
            const StopSignals stop;
            for (int i = 0; i < 3; ++i) std::raise(SIGUSR1);
            std::raise(SIGUSR2);
            if (StopSignals::received() != SIGUSR1) std::exit(1);  // the first one
            std::raise(SIGTERM);
            if (StopSignals::received() != SIGTERM) std::exit(2);
        },
        testing::ExitedWithCode(0));
}

TEST(StopSignalsDeathTest, ASecondSigtermEndsTheProcess) {
    EXPECT_EXIT(
        {
            const StopSignals stop;
            std::raise(SIGUSR1);
            std::raise(SIGTERM);
            std::raise(SIGTERM);
        },
        testing::KilledBySignal(SIGTERM), "");
}

TEST(StopSignalsDeathTest, AWarningBeforeAndBetweenTheWorkIsToldByTheNextWork) {
    expect_end(
        [] {
            StopSignals::note_warnings();
            std::raise(SIGUSR1);
            {
                const StopSignals first;
                if (StopSignals::received() != SIGUSR1) std::exit(1);
                StopSignals::acknowledge();
            }
            std::raise(SIGUSR2);
            const StopSignals second;
            if (StopSignals::received() != SIGUSR2) std::exit(2);
        },
        testing::ExitedWithCode(0));
}

TEST(StopSignalsDeathTest, WithoutNotingAWarningEndsTheProcess) {
    EXPECT_EXIT(std::raise(SIGUSR1), testing::KilledBySignal(SIGUSR1), "");
}

}  // namespace
}  // namespace ranklab::base
