#include "host/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <algorithm>
#include <thread>

#include "unit/host/fake_root.hpp"

namespace ranklab::host {
namespace {

TEST(Cpuset, IsWhatTheKernelAllows) {
    const auto cpus = cpuset();
    ASSERT_FALSE(cpus.empty());
    EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
    EXPECT_EQ(std::adjacent_find(cpus.begin(), cpus.end()), cpus.end());
}

// Bound to one CPU in a thread of its own, so that the rest of the tests keep theirs.
TEST(Cpuset, FollowsABinding) {
    const int last = cpuset().back();
    std::vector<int> seen;
    std::thread([&] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(last, &one);
        if (sched_setaffinity(0, sizeof one, &one) == 0) seen = cpuset();
    }).join();
    EXPECT_EQ(seen, std::vector<int>{last});
}

TEST(Cores, AreAtLeastOneAndNoMoreThanCpus) {
    const auto cpus = cpuset();
    EXPECT_GE(cores_in(cpus), 1);
    EXPECT_LE(cores_in(cpus), static_cast<int>(cpus.size()));
    EXPECT_EQ(cores_in({cpus.front()}), 1);
    EXPECT_EQ(cores_in({}), 0);
    // CPUs that no machine has: without topology each is a core of its own.
    EXPECT_EQ(cores_in({100000, 100001}), 2);
}

TEST(Cores, HoldEachCpuOnce) {
    const auto cpus = cpuset();
    const auto cores = cores_of(cpus);
    EXPECT_EQ(cores.size(), static_cast<std::size_t>(cores_in(cpus)));
    std::vector<int> all;
    for (const auto& core : cores) all.insert(all.end(), core.begin(), core.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, cpus);
    EXPECT_EQ(cores_of({100000, 100001}), (std::vector<std::vector<int>>{{100000}, {100001}}));
}

TEST(NumaNodes, OfTheCpusetAreSome) {
    EXPECT_FALSE(numa_nodes_of(cpuset()).empty());
    EXPECT_TRUE(numa_nodes_of({100000}).empty());
}

class NearCpus : public FakeRoot {
  protected:
    void SetUp() override { ::setenv("RANKLAB_SYSTEM_ROOT", root_.path().c_str(), 1); }
    void TearDown() override { ::unsetenv("RANKLAB_SYSTEM_ROOT"); }
};

TEST_F(NearCpus, AreThoseOfThePciDevice) {
    write("sys/bus/pci/devices/0000:af:00.0/local_cpus", "00010000,00000007\n");
    EXPECT_THAT(cpus_near("0000:AF:00.0"), ::testing::ElementsAre(0, 1, 2, 48));
    EXPECT_THAT(cpus_near("00000000:AF:00.0"), ::testing::ElementsAre(0, 1, 2, 48));
    EXPECT_THAT(cpus_near("0000:18:00.0"), ::testing::IsEmpty());
    EXPECT_THAT(cpus_near(""), ::testing::IsEmpty());
}

}  // namespace
}  // namespace ranklab::host
