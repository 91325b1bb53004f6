// Tests that fail on purpose, each in one way: mpi_main_test.py checks that main.cpp reports them.
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "comm/exchange.hpp"
#include "comm/mpi_environment.hpp"
#include "mpi_world.hpp"

namespace ranklab {
namespace {

using ranklab::testing::world;

TEST(Faulty, Passes) {
    world().barrier();
}

TEST(Faulty, IsSkipped) {
    GTEST_SKIP() << "for no reason";
}

TEST(Faulty, FailsOnRank1) {
    EXPECT_NE(world().rank(), 1) << "only rank 1 sees this";
}

TEST(Faulty, FailsOnRank0) {
    EXPECT_NE(world().rank(), 0);
}

TEST(Faulty, Rank1Throws) {
    if (world().rank() == 1) throw std::runtime_error("thrown on rank 1 alone");
}

TEST(Faulty, Rank1LeavesTheOthersInACollective) {
    if (world().rank() == 1) FAIL() << "rank 1 left early";
    world().barrier();
}

// Ends with 42 if rank 0 gives up on rank 1, as app/session does.
TEST(Faulty, Rank1DoesNotAgreeOnTheExit) {
    const auto own = world().split(0, world().rank());
    if (world().rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(30));
    if (!comm::agree_on_exit(*own, 3, 0.5)) comm::MpiEnvironment::abort(42);
}

TEST(Faulty, Rank1Exits) {
    if (world().rank() == 1) std::_Exit(0);
    world().barrier();
}

}  // namespace
}  // namespace ranklab
