// Tests that fail on purpose, each in one way, so that mpi_main_test.py can see that tests/mpi_main.cpp notices.
// ctest never runs them by themselves.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "mpi_world.hpp"

namespace ranklab {
namespace {

using ranklab::testing::world;

TEST(Faulty, Passes) { world().barrier(); }

TEST(Faulty, FailsOnRank1) { EXPECT_NE(world().rank(), 1) << "only rank 1 sees this"; }

TEST(Faulty, FailsOnRank0) { EXPECT_NE(world().rank(), 0); }

TEST(Faulty, Rank1Throws) {
    if (world().rank() == 1) throw std::runtime_error("thrown on rank 1 alone");
}

TEST(Faulty, Rank1LeavesTheOthersInACollective) {
    if (world().rank() == 1) FAIL() << "rank 1 left early";
    world().barrier();
}

TEST(Faulty, Rank1IsKilled) {
    if (world().rank() == 1) std::raise(SIGKILL);
    world().barrier();
}

TEST(Faulty, Rank1Exits) {
    if (world().rank() == 1) std::_Exit(0);
    world().barrier();
}

}  // namespace
}  // namespace ranklab
