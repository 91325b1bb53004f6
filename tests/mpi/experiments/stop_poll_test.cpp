// A signal reaches some ranks: all stop after the same unit.
#include "experiments/shared/stop_poll.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "base/error.hpp"
#include "base/stop_signals.hpp"
#include "mpi_world.hpp"

namespace ranklab::experiments {
namespace {

using ranklab::testing::world;

constexpr std::int64_t kUnits = 200;

/// Number of units until the poll stops; calls `strike` before each unit.
template <class Strike>
std::int64_t units_until_stop(StopPoll& poll, Strike strike) {
    std::int64_t made = 0;
    while (made < kUnits) {
        strike(made);
        ++made;
        if (poll.asked()) break;
    }
    return made;
}

void expect_same_on_all(std::int64_t value, const std::string& what) {
    std::int64_t ends[] = {value, -value};
    world().allreduce(comm::view(std::span(ends)), comm::ReduceOp::min);
    EXPECT_EQ(ends[0], -ends[1]) << what;
}

// Clears the signal that a test raised.
class StopPollTest : public ::testing::Test {
  protected:
    void TearDown() override { base::StopSignals::acknowledge(); }
};

TEST_F(StopPollTest, GoesOnWhereNobodyWasTold) {
    const base::StopSignals signals;
    StopPoll poll(world());
    EXPECT_EQ(units_until_stop(poll, [](std::int64_t) {}), kUnits);
    EXPECT_EQ(poll.signal(), 0);
}

TEST_F(StopPollTest, StopsAllAtOnePlaceWhicheverRankWasTold) {
    for (const int number : {SIGTERM, SIGINT, SIGUSR1}) {
        for (int signalled = 0; signalled < world().world_size(); ++signalled) {
            const base::StopSignals signals;
            StopPoll poll(world());
            const auto made = units_until_stop(poll, [&](std::int64_t unit) {
                if (unit == 60 && world().rank() == signalled) std::raise(number);
            });
            EXPECT_GT(made, 60);
            EXPECT_LE(made, 61 + StopPoll::kMostUnits);
            expect_same_on_all(made, "units");
            EXPECT_EQ(poll.signal(), number);
            EXPECT_TRUE(poll.asked()) << "for good";
            base::StopSignals::acknowledge();
        }
    }
}

TEST_F(StopPollTest, SaysItOnOneRank) {
    const base::StopSignals signals;
    stop_if_asked(world(), "before anything was done");
    if (world().rank() == world().world_size() - 1) std::raise(SIGTERM);
    std::string sentence;
    int code = 0;
    try {
        stop_if_asked(world(), "before anything was done");
    } catch (const base::Error& error) {
        sentence = error.what();
        code = static_cast<int>(error.code());
    }
    EXPECT_EQ(code, 128 + SIGTERM);
    const bool is_last = world().rank() == world().world_size() - 1;
    EXPECT_EQ(sentence == "stopped by SIGTERM before anything was done", is_last) << sentence;
}

}  // namespace
}  // namespace ranklab::experiments
