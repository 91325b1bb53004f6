#include "comm/polite_wait.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "comm/self.hpp"
#include "mpi_world.hpp"

namespace ranklab::comm {
namespace {

using ranklab::testing::world;
using Clock = std::chrono::steady_clock;

double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

TEST(PoliteWait, IsABarrierWhoseWaitersSleep) {
    constexpr double kWork = 0.5;
    world().barrier();
    const auto begin = Clock::now();
    const double before = processor_seconds();
    int beats = 0;
    if (world().rank() == 0) std::this_thread::sleep_for(std::chrono::duration<double>(kWork));
    wait_politely(world(), [&] { ++beats; });
    const double used = processor_seconds() - before;
    EXPECT_GT(seconds_since(begin), kWork * 0.9) << "nobody leaves before the last has come";
    EXPECT_LT(used, kWork / 2) << "a waiter that spins uses a whole core";
    if (world().rank() != 0) {
        EXPECT_GT(beats, 10) << "a waiter beats for its watchdog";
    }
}

TEST(PoliteWait, ComesToAnEndAgainAndAgain) {
    for (std::int32_t round = 0; round < 20; ++round) {
        wait_politely(world(), [] {});
        std::int32_t sum = round;
        world().allreduce(view(std::span(&sum, 1)), ReduceOp::sum);
        EXPECT_EQ(sum, round * world().world_size()) << "collectives around it stay in order";
    }
}

TEST(PoliteWait, OfOneRankWithoutMpiIsOverAtOnce) {
    const auto alone = make_self();
    wait_politely(*alone, [] { ADD_FAILURE() << "nobody is waited for"; });
    EXPECT_EQ(alone->world_size(), 1);
}

// On a communicator of its own: the barrier stays open.
TEST(PoliteWait, EndsWhenTheBeatThrows) {
    auto open = world().split(0, world().rank());
    int thrown = 0;
    if (world().rank() != 0) {
        try {
            wait_politely(*open, [] { throw 1; });
        } catch (int) {
            ++thrown;
        }
    }
    world().barrier();
    EXPECT_EQ(thrown, world().rank() == 0 ? 0 : 1);
    // The rank that was waited for comes after all, so that MPI can finish what was begun.
    if (world().rank() == 0) wait_politely(*open, [] {});
}

}  // namespace
}  // namespace ranklab::comm
