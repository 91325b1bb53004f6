#include "comm/bare_machine.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace ranklab::comm {
namespace {

using Variables = std::map<std::string, std::string>;

bool forbids(const Variables& variables, const std::set<std::string>& programs = {}) {
    return must_forbid_rsh(
        [&](const char* name) -> const char* {
            const auto found = variables.find(name);
            return found == variables.end() ? nullptr : found->second.c_str();
        },
        [&](const char* name) { return programs.contains(name); });
}

TEST(BareMachine, WithoutSshTheDaemonMustNotLookForIt) {
    EXPECT_TRUE(forbids({}));
    EXPECT_FALSE(forbids({}, {"ssh"}));
    EXPECT_FALSE(forbids({}, {"rsh"}));
}

TEST(BareMachine, UnderALauncherThereIsNoDaemonOfOurs) {
    EXPECT_FALSE(forbids({{"OMPI_COMM_WORLD_SIZE", "4"}}));
    EXPECT_FALSE(forbids({{"PMIX_RANK", "0"}}));
}

TEST(BareMachine, WhatTheUserSaysStands) {
    EXPECT_FALSE(forbids({{"OMPI_MCA_plm", "rsh"}}));
    EXPECT_FALSE(forbids({{"OMPI_MCA_plm_rsh_agent", "/opt/ssh"}}));
}

}  // namespace
}  // namespace ranklab::comm
