#include "base/clock.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <future>

namespace ranklab::base {
namespace {

bool blocks(int signal) {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    return sigismember(&mask, signal) == 1;
}

TEST(Every, TicksOnAThreadThatTakesNoStopSignals) {
    std::promise<bool> masked;
    std::atomic<int> ticks{0};
    {
        const auto ticker = every(std::chrono::milliseconds(1), [&](double seconds) {
            EXPECT_GT(seconds, 0);
            if (++ticks == 3)
                masked.set_value(blocks(SIGINT) && blocks(SIGTERM) && blocks(SIGUSR1));
        });
        EXPECT_TRUE(masked.get_future().get());
    }
    EXPECT_FALSE(blocks(SIGINT)) << "the maker's own signals stay";
}

// Its period is an hour; a test that waits for it would run into its limit.
TEST(Every, EndsAtOnceWithItsScope) {
    const auto ticker = every(std::chrono::hours(1), [](double) { FAIL() << "too early"; });
}

}  // namespace
}  // namespace ranklab::base
