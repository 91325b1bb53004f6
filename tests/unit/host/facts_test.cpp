#include "host/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>

#include "fake_root.hpp"
#include "temp_folder.hpp"

namespace ranklab::host {
namespace {

TEST(Host, HasAName) {
    EXPECT_FALSE(host_name().empty());
}

class Governors : public FakeRoot {};

TEST_F(Governors, AreNamedOnce) {
    EXPECT_EQ(governor_of({0, 1}, root_.path()), "");
    write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    write("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
    write("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "performance\n");
    EXPECT_EQ(governor_of({0, 1}, root_.path()), "powersave");
    EXPECT_EQ(governor_of({0, 1, 2}, root_.path()), "performance and powersave");
}

TEST(HostFacts, AreAllThereAndNoneEmpty) {
    std::map<std::string, std::string> facts;
    for (const auto& [key, value] : host_facts()) {
        EXPECT_FALSE(value.empty()) << key;
        EXPECT_TRUE(facts.emplace(key, value).second) << key << " is there twice";
    }
    for (const char* key : {"kernel", "machine", "cpu", "logical_cpus", "numa_nodes", "memory",
                            "governor", "load_1min"}) {
        EXPECT_EQ(facts.count(key), 1U) << key;
    }
    EXPECT_THAT(facts["kernel"], ::testing::StartsWith("Linux "));
    EXPECT_THAT(facts["memory"], ::testing::EndsWith("kB"));
}

class Environment : public ::testing::Test {
  protected:
    static void set(const char* name, const char* value) { ::setenv(name, value, 1); }
    static std::map<std::string, std::string> allowed() {
        const auto list = allowed_environment();
        return {list.begin(), list.end()};
    }
    void TearDown() override {
        for (const char* name :
             {"SECRET_TOKEN", "AWS_SECRET_ACCESS_KEY", "SLURM_JWT", "MY_OMP_KEY", "omp_x",
              "NCCL_DEBUG", "CUDA_VISIBLE_DEVICES", "OMP_PROC_BIND", "SLURM_JOB_ID"}) {
            ::unsetenv(name);
        }
    }
};

TEST_F(Environment, HoldsNothingThatTheLauncherSaysByItself) {
    for (const char* name :
         {"OMPI_MCA_orte_hnp_uri", "OMPI_MCA_ess", "OMPI_MCA_mpi_oversubscribe"}) {
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
    for (const char* name :
         {"SECRET_TOKEN", "AWS_SECRET_ACCESS_KEY", "SLURM_JWT", "MY_OMP_KEY", "omp_x"}) {
        set(name, "s3cr3t");
    }
    for (const auto& [name, value] : allowed()) {
        EXPECT_NE(value, "s3cr3t") << name;
        EXPECT_NE(name, "HOME");
        EXPECT_NE(name, "PATH");
    }
}

}  // namespace
}  // namespace ranklab::host
