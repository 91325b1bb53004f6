#include "host/cpu_quota.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/host/fake_root.hpp"

namespace ranklab::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CpuQuotaTest : public FakeRoot {
  protected:
    /// The process is in `place`, and sees `shown` of the hierarchy at its mount point.
    void version_2(const std::string& place, const std::string& shown = "/") {
        write("proc/self/cgroup", "0::" + place + "\n");
        write("proc/self/mountinfo",
              "23 30 0:21 / /proc rw - proc proc rw\n"
              "31 23 0:28 " +
                  shown + " /sys/fs/cgroup ro,nosuid shared:9 - cgroup2 cgroup rw,nsdelegate\n");
    }
    void version_1(const std::string& place, const std::string& shown = "/") {
        write("proc/self/cgroup", "5:cpuset:/other\n4:cpu,cpuacct:" + place + "\n0::/\n");
        write("proc/self/mountinfo",
              "31 23 0:28 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
              "32 23 0:29 " +
                  shown +
                  " /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
                  "33 23 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    }
    CpuQuota quota() { return cpu_quota(root_.path()); }
    std::vector<double> limits() {
        std::vector<double> all;
        for (const auto& limit : quota().limits) all.push_back(limit.cpus);
        return all;
    }
};

TEST_F(CpuQuotaTest, IsNotKnownWhereTheSystemDoesNotSayIt) {
    EXPECT_FALSE(quota().known);
    write("proc/self/cgroup", "0::/job\n");
    EXPECT_FALSE(quota().known) << "no hierarchy is seen";
    write("proc/self/cgroup", "no such form\n3\n");
    EXPECT_FALSE(quota().known);
}

TEST_F(CpuQuotaTest, OfTheOwnCgroupAndOfThoseAboveIt) {
    version_2("/pod/box");
    EXPECT_TRUE(quota().known);
    EXPECT_THAT(limits(), IsEmpty());
    write("sys/fs/cgroup/pod/cpu.max", "800000 100000\n");
    write("sys/fs/cgroup/pod/box/cpu.max", "max 100000\n");
    write("sys/fs/cgroup/other/cpu.max", "100000 100000\n");
    EXPECT_THAT(limits(), ElementsAre(8));
    write("sys/fs/cgroup/pod/box/cpu.max", "250000 100000\n");
    EXPECT_THAT(limits(), ElementsAre(8, 2.5));
}

TEST_F(CpuQuotaTest, OfAContainerThatSeesItselfAtTheTop) {
    version_2("/");
    write("sys/fs/cgroup/cpu.max", "200000 100000\n");
    EXPECT_THAT(limits(), ElementsAre(2)) << "docker --cpus=2";
}

TEST_F(CpuQuotaTest, OfAContainerWithTheHostsPaths) {
    version_2("/docker/abc", "/docker/abc");
    write("sys/fs/cgroup/cpu.max", "200000 100000\n");
    EXPECT_THAT(limits(), ElementsAre(2));
    version_2("/docker/abc/in", "/docker/abc");
    write("sys/fs/cgroup/in/cpu.max", "100000 100000\n");
    EXPECT_THAT(limits(), ElementsAre(2, 1));
    version_2("/../elsewhere", "/");
    EXPECT_THAT(limits(), ElementsAre(2)) << "outside of what is seen; what is seen counts";
}

TEST_F(CpuQuotaTest, OfVersion1) {
    version_1("/job/step");
    write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    write("sys/fs/cgroup/unified/cpu.max", "1000 100000\n");
    EXPECT_TRUE(quota().known);
    EXPECT_THAT(limits(), IsEmpty()) << "where version 1 has the controller, version 2 rules nothing";
    write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "150000\n");
    EXPECT_THAT(limits(), IsEmpty()) << "of a period that is not said";
    write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "50000\n");
    EXPECT_THAT(limits(), ElementsAre(3));
}

TEST_F(CpuQuotaTest, DamagedFilesAreNoLimit) {
    version_2("/job");
    for (const char* text : {"", "200000", "0 100000", "100000 0", "-5 100000", "many few", "1 2 3"}) {
        write("sys/fs/cgroup/job/cpu.max", text);
        EXPECT_THAT(limits(), IsEmpty()) << text;
    }
}

TEST_F(CpuQuotaTest, HasOneNameInAllProcessesThatShareIt) {
    version_2("/job/rank0");
    write("sys/fs/cgroup/job/cpu.max", "200000 100000\n");
    write("sys/fs/cgroup/job/rank0/cpu.max", "100000 100000\n");
    write("sys/fs/cgroup/job/rank1/cpu.max", "100000 100000\n");
    const auto one = quota().limits;
    version_2("/job/rank1");
    const auto two = quota().limits;
    ASSERT_EQ(one.size(), 2U);
    ASSERT_EQ(two.size(), 2U);
    EXPECT_EQ(one[0].cgroup, two[0].cgroup);
    EXPECT_NE(one[1].cgroup, two[1].cgroup);
}

}  // namespace
}  // namespace ranklab::host
