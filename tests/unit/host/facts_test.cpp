#include "host/facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <thread>

#include "fake_root.hpp"
#include "temp_folder.hpp"

namespace ranklab::host {
namespace {

TEST(Host, HasAName) {
    EXPECT_FALSE(host_name().empty());
}

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

TEST(HostFacts, AreAllThereAndNoneEmpty) {
    std::map<std::string, std::string> facts;
    for (const auto& [key, value] : host_facts()) {
        EXPECT_FALSE(value.empty()) << key;
        EXPECT_TRUE(facts.emplace(key, value).second) << key << " is there twice";
    }
    for (const char* key :
         {"kernel", "machine", "cpu", "logical_cpus", "numa_nodes", "memory", "governor", "load_1min"}) {
        EXPECT_EQ(facts.count(key), 1U) << key;
    }
    EXPECT_THAT(facts["kernel"], ::testing::StartsWith("Linux "));
    EXPECT_THAT(facts["memory"], ::testing::EndsWith("kB"));
}

TEST(FileSystem, IsThatOfTheNearestFolderThatExists) {
    const tests::TempFolder folder;
    const auto type = file_system_of(folder.path());
    EXPECT_FALSE(type.empty());
    EXPECT_EQ(file_system_of(folder / "not/yet/there.h5"), type);
    EXPECT_EQ(file_system_of("/proc/self"), "proc");
    EXPECT_NE(file_system_of("relative.h5"), "unknown");
}

class Environment : public ::testing::Test {
  protected:
    static void set(const char* name, const char* value) { ::setenv(name, value, 1); }
    static std::map<std::string, std::string> allowed() {
        const auto list = allowed_environment();
        return {list.begin(), list.end()};
    }
    void TearDown() override {
        for (const char* name : {"SECRET_TOKEN", "AWS_SECRET_ACCESS_KEY", "SLURM_JWT", "MY_OMP_KEY", "omp_x",
                                 "NCCL_DEBUG", "CUDA_VISIBLE_DEVICES", "OMP_PROC_BIND", "SLURM_JOB_ID"}) {
            ::unsetenv(name);
        }
    }
};

TEST_F(Environment, HoldsNothingThatTheLauncherSaysByItself) {
    for (const char* name : {"OMPI_MCA_orte_hnp_uri", "OMPI_MCA_ess", "OMPI_MCA_mpi_oversubscribe"}) {
        set(name, "0");
        EXPECT_EQ(allowed().count(name), 0U) << name;
        ::unsetenv(name);
    }
    set("OMPI_MCA_btl", "tcp");
    EXPECT_EQ(allowed().count("OMPI_MCA_btl"), 1U);
    ::unsetenv("OMPI_MCA_btl");
}

TEST_F(Environment, HoldsWhatExplainsANumber) {
    set("NCCL_DEBUG", "a=b");
    set("OMP_PROC_BIND", "");
    set("SLURM_JOB_ID", "42");
    set("CUDA_VISIBLE_DEVICES", "0,1");
    const auto facts = allowed();
    EXPECT_EQ(facts.at("NCCL_DEBUG"), "a=b") << "the value may hold an equals sign";
    EXPECT_EQ(facts.at("OMP_PROC_BIND"), "");
    EXPECT_EQ(facts.at("SLURM_JOB_ID"), "42");
    EXPECT_EQ(facts.at("CUDA_VISIBLE_DEVICES"), "0,1");
}

TEST_F(Environment, NeverHoldsASecret) {
    // SLURM_JWT is the token of Slurm's REST interface: it has an allowed prefix.
    for (const char* name : {"SECRET_TOKEN", "AWS_SECRET_ACCESS_KEY", "SLURM_JWT", "MY_OMP_KEY", "omp_x"}) {
        set(name, "s3cr3t");
    }
    for (const auto& [name, value] : allowed()) {
        EXPECT_NE(value, "s3cr3t") << name;
        EXPECT_NE(name, "HOME");
        EXPECT_NE(name, "PATH");
    }
}

class NearCpus : public FakeRoot {};

TEST_F(NearCpus, AreThoseOfThePciDevice) {
    write("sys/bus/pci/devices/0000:af:00.0/local_cpulist", "0-2,48\n");
    EXPECT_THAT(cpus_near("0000:AF:00.0", root_.path()), ::testing::ElementsAre(0, 1, 2, 48));
    EXPECT_THAT(cpus_near("00000000:AF:00.0", root_.path()), ::testing::ElementsAre(0, 1, 2, 48));
}

TEST_F(NearCpus, AreNoneWhereTheSystemDoesNotSay) {
    write("sys/bus/pci/devices/0000:17:00.0/local_cpulist", "\n");
    EXPECT_THAT(cpus_near("0000:17:00.0", root_.path()), ::testing::IsEmpty());
    EXPECT_THAT(cpus_near("0000:18:00.0", root_.path()), ::testing::IsEmpty());
    EXPECT_THAT(cpus_near("", root_.path()), ::testing::IsEmpty());
}

}  // namespace
}  // namespace ranklab::host
