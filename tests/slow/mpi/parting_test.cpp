// Ranks part by sockets: none goes on before all have come.
#include "comm/parting.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <thread>

#include "comm/exchange.hpp"
#include "mpi_world.hpp"

namespace ranklab::comm {
namespace {

using ranklab::testing::world;

std::int64_t now_ns() {  // of the host, so that ranks can be compared
    return std::chrono::steady_clock::now().time_since_epoch().count();
}

TEST(Parting, NoRankGoesOnBeforeTheLastHasCome) {
    for (int late = 0; late < world().world_size(); ++late) {
        world().barrier();
        if (world().rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds(200));
        const auto came = now_ns();
        part_without_mpi(world(), 60);
        const auto went = now_ns();
        const auto all_came = gather_values(world(), came);
        const auto all_went = gather_values(world(), went);
        EXPECT_GE(std::ranges::min(all_went), std::ranges::max(all_came)) << "rank " << late << " was late";
    }
}

TEST(Parting, IsNothingThatOpenMpiOrARankAloneNeeds) {
#ifdef OPEN_MPI
    const bool is_needless = true;
#else
    const bool is_needless = world().world_size() == 1;
#endif
    if (is_needless) {
        EXPECT_FALSE(must_part_without_mpi(world()));
    }
}

}  // namespace
}  // namespace ranklab::comm
