#include <gtest/gtest.h>
#include <time.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "base/error.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange.hpp"
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

TEST(TogetherPolitely, IsABarrierWhoseWaitersSleep) {
    constexpr double kWork = 0.2;
    world().barrier();
    const auto begin = Clock::now();
    const double before = processor_seconds();
    int beats = 0;
    const auto work = [&] {
        if (world().rank() == 0) std::this_thread::sleep_for(std::chrono::duration<double>(kWork));
    };
    all_or_throw_polling(world(), work, [&] { ++beats; });
    const double used = processor_seconds() - before;
    EXPECT_GT(seconds_since(begin), kWork * 0.9) << "nobody leaves before the last has come";
    EXPECT_LT(used, kWork / 2) << "a waiter that spins uses a whole core";
    if (world().rank() != 0) {
        EXPECT_GT(beats, 10) << "a waiter beats for its watchdog";
    }
}

TEST(TogetherPolitely, ComesToAnEndAgainAndAgain) {
    for (std::int32_t round = 0; round < 20; ++round) {
        all_or_throw_polling(
            world(), [] {}, [] {});
        std::int32_t sum = round;
        world().allreduce(view(std::span(&sum, 1)), ReduceOp::sum);
        EXPECT_EQ(sum, round * world().world_size()) << "collectives around it stay in order";
    }
}

TEST(TogetherPolitely, OfOneRankWithoutMpiIsOverAtOnce) {
    const auto alone = make_self();
    bool worked = false;
    all_or_throw_polling(
        *alone, [&] { worked = true; }, [] { ADD_FAILURE() << "nobody is waited for"; });
    EXPECT_TRUE(worked);
}

TEST(TogetherPolitely, TellsAllRanksOfAFailure) {
    const int last = world().world_size() - 1;
    try {
        all_or_throw_polling(
            world(),
            [&] {
                if (world().rank() == last) throw base::DataError("the sentence");
            },
            [] {});
        ADD_FAILURE() << "nothing was thrown";
    } catch (const base::Error& error) {
        EXPECT_EQ(error.code(), base::ExitCode::wrong_data);
        EXPECT_EQ(std::string(error.what()) == "the sentence", world().rank() == last);
    }
}

// A rank fails in all_or_throw() of a subgroup, within that of all ranks: all throw, and the failed
// rank throws the error itself.
TEST(TogetherPolitely, TheSentenceOfAGroupIsToldByWhoHasIt) {
    if (world().world_size() < 2) GTEST_SKIP() << "there is nobody to hear it from";
    const int last = world().world_size() - 1;
    const auto group = world().split(0, world().rank());
    const auto fails = [&] {
        all_or_throw(*group, [&] {
            if (group->rank() == last) throw base::DataError("the sentence");
        });
    };
    for (const bool politely : {false, true}) {
        try {
            politely ? all_or_throw_polling(world(), fails, [] {}) : all_or_throw(world(), fails);
            ADD_FAILURE() << "nothing was thrown";
        } catch (const base::Error& error) {
            EXPECT_EQ(error.code(), base::ExitCode::wrong_data);
            EXPECT_EQ(std::string(error.what()) == "the sentence", world().rank() == last)
                << error.what();
        }
    }
}

// Completes the allreduce that other ranks started on `open` and abandoned, so that MPI can
// finalize.
void end_for(Communicator& open) {
    std::int64_t nothing = 0;
    open.start_allreduce(view(std::span(&nothing, 1)), ReduceOp::min).wait();
}

TEST(TogetherPolitely, EndsWhenTheBeatThrows) {
    if (world().world_size() == 1) GTEST_SKIP() << "nobody is waited for";
    auto open = world().split(0, world().rank());
    if (world().rank() != 0) {
        EXPECT_THROW(all_or_throw_polling(
                         *open, [] {}, [] { throw 1; }),
                     int);
    }
    world().barrier();
    if (world().rank() == 0) end_for(*open);
    world().barrier();
}

}  // namespace
}  // namespace ranklab::comm
