#include "host/free_memory.hpp"

#include <gtest/gtest.h>

#include "unit/host/fake_root.hpp"

namespace ranklab::host {
namespace {

class FreeMemoryTest : public FakeRoot {
  protected:
    void meminfo(const std::string& available) {
        write("proc/meminfo", "MemTotal:       1000 kB\nMemAvailable:    " + available + " kB\n");
    }
    void in_cgroup() {
        write("proc/self/cgroup", "0::/job\n");
        write("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
    }
    std::optional<std::int64_t> free() { return free_memory(root_.path()); }
};

TEST_F(FreeMemoryTest, IsWhatTheKernelSays) {
    EXPECT_FALSE(free()) << "nothing is said";
    meminfo("800");
    EXPECT_EQ(free(), 800 * 1024);
}

TEST_F(FreeMemoryTest, IsWhatTheCgroupLeavesOfIt) {
    meminfo("800");
    in_cgroup();
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

TEST_F(FreeMemoryTest, OfVersionOneToo) {
    meminfo("800");
    write("proc/self/cgroup", "3:memory:/job\n0::/\n");
    write("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "300000\n");
    write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "100000\n");
    EXPECT_EQ(free(), 200000);
}

}  // namespace
}  // namespace ranklab::host
