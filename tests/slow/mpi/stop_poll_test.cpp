// Units of work that take longer than the interval between two polls for a signal.
#include "experiments/shared/stop_poll.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "base/stop_signals.hpp"
#include "mpi_world.hpp"

namespace ranklab::experiments {
namespace {

using ranklab::testing::world;

void expect_same_on_all(std::int64_t value, const std::string& what) {
    std::int64_t ends[] = {value, -value};
    world().allreduce(comm::view(std::span(ends)), comm::ReduceOp::min);
    EXPECT_EQ(ends[0], -ends[1]) << what;
}

TEST(StopPoll, AsksAfterEachLongUnit) {
    const base::StopSignals signals;
    StopPoll poll(world());
    const bool slow = world().rank() == 0;  // the slowest rank decides
    for (int unit = 0; unit < 3; ++unit) {
        if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(260));
        poll.unit_done();
        EXPECT_TRUE(poll.due()) << "after unit " << unit;
        expect_same_on_all(poll.due() ? 1 : 0, "due");
        EXPECT_FALSE(poll.ask());
    }
}

}  // namespace
}  // namespace ranklab::experiments
