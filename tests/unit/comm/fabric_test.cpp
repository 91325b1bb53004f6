#include "comm/fabric.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace ranklab::comm {
namespace {

using Variables = std::map<std::string, std::string>;

bool may_skip(const Variables& variables, bool fabric_here = false) {
    return may_skip_cm(
        [&](const char* name) -> const char* {
            const auto found = variables.find(name);
            return found == variables.end() ? nullptr : found->second.c_str();
        },
        fabric_here);
}

TEST(Fabric, OneNodeWithoutADeviceNeedsNoSearch) {
    EXPECT_TRUE(may_skip({}));
    EXPECT_TRUE(may_skip({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}));
}

TEST(Fabric, ADeviceIsSearchedFor) {
    EXPECT_FALSE(may_skip({}, true));
    EXPECT_FALSE(may_skip({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}, true));
}

TEST(Fabric, OtherNodesMayHaveOne) {
    EXPECT_FALSE(may_skip({{"OMPI_COMM_WORLD_SIZE", "14"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}));
    EXPECT_FALSE(may_skip({{"OMPI_COMM_WORLD_SIZE", "4"}}));
    EXPECT_FALSE(may_skip({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}));
}

TEST(Fabric, WhatTheUserSaysStands) {
    EXPECT_FALSE(may_skip({{"OMPI_MCA_pml", "ucx"}}));
    EXPECT_FALSE(may_skip({{"OMPI_MCA_mtl", "psm2"}}));
}

// ^cm alone would call in the UCX that a distribution has left out by its file of parameters.
TEST(Fabric, UcxIsLeftOutWithCm) {
    if (!may_skip({}, fabric_device_here())) GTEST_SKIP() << "there is a fabric here";
    for (const char* name : {"OMPI_MCA_pml", "OMPI_MCA_mtl", "OMPI_MCA_mca_base_param_files",
                             "OMPI_COMM_WORLD_SIZE", "SLURM_PROCID", "PMI_RANK", "PMIX_RANK"})
        ::unsetenv(name);
    skip_cm_without_fabric();
    EXPECT_STREQ(std::getenv("OMPI_MCA_pml"), "^cm,ucx");
}

}  // namespace
}  // namespace ranklab::comm
