#include "host/load.hpp"

#include <gtest/gtest.h>

#include "unit/host/fake_root.hpp"

namespace ranklab::host {
namespace {

/// Two ranks on CPUs 0 and 1 of one host, a third one elsewhere.
class Load : public FakeRoot {
  protected:
    // Hundredths of a second of user, nice and system, then idle.
    void stat(const std::string& cpu0, const std::string& cpu1) {
        write("proc/stat", "cpu  9 9 9 9 0 0 0 0 0 0\ncpu0 " + cpu0 + " 0 0 0 0 0 0\ncpu1 " + cpu1 +
                               " 0 0 0 0 0 0\ncpu2 900 900 900 900 0 0 0 0 0 0\nintr 7\n");
    }
    UseMeter meter(int rank) {
        const auto place = [](int number, int local, const char* host) {
            return Placement{.rank = number,
                             .local_rank = local,
                             .host = host,
                             .cpus = {local},
                             .build = "",
                             .gpus = ""};
        };
        return {rank, {place(0, 0, "n1"), place(1, 1, "n1"), place(2, 0, "n2")}, root_.path()};
    }
};

TEST_F(Load, IsThatOfTheRanksCpusBetweenTwoMoments) {
    stat("100 0 0 100", "200 0 0 0");
    UseMeter first = meter(0), second = meter(1);
    EXPECT_TRUE(first.is_known());
    EXPECT_FALSE(second.is_known()) << "the first rank of a host looks";
    stat("200 0 0 200", "300 0 0 0");
    first.begin();
    stat("250 20 30 300", "300 0 0 200");
    first.end();
    stat("999 0 0 999", "999 0 0 999");
    const Use use = first.use();
    EXPECT_DOUBLE_EQ(use.busy_s.value_or(-1), 1.0)
        << "user, nice and system of CPU 0; CPU 1 was idle";
    EXPECT_EQ(use.host_cpus, 2);
    EXPECT_GE(use.cpu_s, 0);
    EXPECT_GT(use.peak_rss_bytes, 0);
    EXPECT_EQ(second.use().host_cpus, 0);
    EXPECT_FALSE(second.use().busy_s);
}

TEST_F(Load, IsNotKnownWhereTheSystemDoesNotSayIt) {
    EXPECT_FALSE(meter(0).is_known()) << "no file";
    write("proc/stat", "cpu0 1 1 1 1 0 0 0 0 0 0\n");
    EXPECT_FALSE(meter(0).is_known()) << "no CPU 1";
    stat("0 0 0 0", "0 0 0 0");
    UseMeter still = meter(0);
    const auto loads = other_loads({still.use()});
    EXPECT_TRUE(loads.empty()) << "shorter than a second";
}

TEST(OtherLoads, AreWhatTheRanksDidNotUse) {
    const auto use = [](int rank, const char* host, double cpu_s, std::optional<double> busy_s) {
        return Use{.rank = rank,
                   .host = host,
                   .host_cpus = 2,
                   .seconds = 10,
                   .cpu_s = cpu_s,
                   .busy_s = busy_s};
    };
    const auto loads = other_loads(
        {use(0, "a", 9, 18), use(1, "a", 9.5, {}), use(2, "b", 9, 26), use(3, "b", 9, {})});
    ASSERT_EQ(loads.size(), 2U);
    EXPECT_DOUBLE_EQ(loads[0].cpus_busy, 0) << "the ranks' own clock is finer";
    EXPECT_EQ(loads[1].host, "b");
    EXPECT_DOUBLE_EQ(loads[1].cpus_busy, 0.8);
}

TEST(OtherLoads, AreQuietUpTo5PercentOfTheRunsOwnCpus) {
    for (const auto& [busy, cpus, quiet] :
         {std::tuple{0.45, 1, false}, {0.06, 1, false}, {0.04, 1, true}, {3.0, 64, true}})
        EXPECT_EQ((OtherLoad{"a", busy, cpus}.is_quiet()), quiet) << busy << " of " << cpus;
}

}  // namespace
}  // namespace ranklab::host
