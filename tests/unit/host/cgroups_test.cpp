#include "host/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/host/fake_root.hpp"

namespace ranklab::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Cgroups : public FakeRoot {
  protected:
    void in(const std::string& place) { write("proc/self/cgroup", "0::" + place + "\n"); }
    std::vector<double> limits() {
        std::vector<double> all;
        for (const auto& limit : cpu_quota(root_.path()).limits) all.push_back(limit.cpus);
        return all;
    }
    bool known() { return cpu_quota(root_.path()).known; }
    std::optional<std::int64_t> free() { return free_memory(root_.path()); }
};

TEST_F(Cgroups, AreNotKnownWhereTheSystemDoesNotSayIt) {
    EXPECT_FALSE(known());
    in("/job");
    EXPECT_FALSE(known()) << "no hierarchy is seen";
    write("proc/self/cgroup", "no such form\n3\n");
    EXPECT_FALSE(known());
}

TEST_F(Cgroups, LimitThoseBelowThem) {
    in("/pod/box");
    write("sys/fs/cgroup/pod/cpu.max", "800000 100000\n");
    write("sys/fs/cgroup/pod/box/cpu.max", "max 100000\n");
    write("sys/fs/cgroup/other/cpu.max", "100000 100000\n");
    EXPECT_TRUE(known());
    EXPECT_THAT(limits(), ElementsAre(8));
    write("sys/fs/cgroup/pod/box/cpu.max", "250000 100000\n");
    EXPECT_THAT(limits(), ElementsAre(8, 2.5));
    EXPECT_EQ(least_limit(cpu_quota(root_.path())), 2.5);
    EXPECT_EQ(least_limit({}), std::nullopt);
}

TEST_F(Cgroups, OfAContainerAreSeenAtTheTop) {
    write("sys/fs/cgroup/cpu.max", "200000 100000\n");
    for (const char* place : {"/", "/docker/abc", "/../elsewhere"}) {
        in(place);
        EXPECT_THAT(limits(), ElementsAre(2)) << "docker --cpus=2 in " << place;
    }
}

TEST_F(Cgroups, OfVersion1) {
    write("proc/self/cgroup", "5:cpuset:/other\n4:cpu,cpuacct:/job/step\n3:memory:/job\n0::/\n");
    write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    write("sys/fs/cgroup/cpu.max", "1000 100000\n");
    EXPECT_TRUE(known());
    EXPECT_THAT(limits(), IsEmpty())
        << "where version 1 has the controller, version 2 rules nothing";
    write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "150000\n");
    EXPECT_THAT(limits(), IsEmpty()) << "its period is missing";
    write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "50000\n");
    EXPECT_THAT(limits(), ElementsAre(3));
    write("proc/meminfo", "MemTotal:       1000 kB\nMemAvailable:    800 kB\n");
    write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "300000\n");
    write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "100000\n");
    EXPECT_EQ(free(), 200000);
}

TEST_F(Cgroups, WithDamagedFilesDoNotLimit) {
    in("/job");
    for (const char* text :
         {"", "200000", "0 100000", "100000 0", "-5 100000", "many few", "1 2 3"}) {
        write("sys/fs/cgroup/job/cpu.max", text);
        EXPECT_THAT(limits(), IsEmpty()) << text;
    }
}

TEST_F(Cgroups, HaveOneNameInAllProcesses) {
    for (const char* file : {"job/cpu.max", "job/rank0/cpu.max", "job/rank1/cpu.max"})
        write(std::string("sys/fs/cgroup/") + file, "200000 100000\n");
    in("/job/rank0");
    const auto one = cpu_quota(root_.path()).limits;
    in("/job/rank1");
    const auto two = cpu_quota(root_.path()).limits;
    ASSERT_EQ(one.size(), 2U);
    ASSERT_EQ(two.size(), 2U);
    EXPECT_EQ(one[0].cgroup, two[0].cgroup);
    EXPECT_NE(one[1].cgroup, two[1].cgroup);
}

TEST_F(Cgroups, LeaveMemory) {
    EXPECT_FALSE(free()) << "the system does not say it";
    write("proc/meminfo", "MemTotal:       1000 kB\nMemAvailable:    800 kB\n");
    in("/job");
    write("sys/fs/cgroup/job/memory.max", "max\n");
    write("sys/fs/cgroup/job/memory.current", "100000\n");
    EXPECT_EQ(free(), 800 * 1024) << "no limit";
    write("sys/fs/cgroup/job/memory.max", "500000\n");
    EXPECT_EQ(free(), 400000);
    write("sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 50000\n");
    EXPECT_EQ(free(), 450000) << "cached files are given back";
    write("sys/fs/cgroup/job/memory.max", "1000\n");
    write("sys/fs/cgroup/job/memory.stat", "inactive_file 0\n");
    EXPECT_EQ(free(), 0);
}

}  // namespace
}  // namespace ranklab::host
