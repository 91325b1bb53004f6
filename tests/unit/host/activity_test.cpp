#include "host/activity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <fstream>

#include "unit/host/fake_root.hpp"

namespace ranklab::host {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class FakeSystem : public FakeRoot {
  protected:
    void stat(const std::string& cpu0, const std::string& cpu1) {
        write("proc/stat",
              "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 " + cpu0 + " 0 0\ncpu1 " + cpu1 + " 0 0\nintr 7\n");
    }
    void cpu_file(const std::string& file, const std::string& text) {
        for (int cpu = 0; cpu <= sched_getcpu() + 64; ++cpu)
            write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/" + file, text);
    }
    Activity look(std::vector<int> cpus = {0, 1}) { return look_at(cpus, root_.path()); }
};

TEST_F(FakeSystem, CountsTheSecondsOfTheseCpus) {
    stat("100 20 30 400 5 6 7 8", "1000 200 300 4000 50 60 70 80");
    const auto one = look({0});
    EXPECT_DOUBLE_EQ(*one.busy_s, 1.5) << "user, nice and system: hundredths of a second";
    EXPECT_DOUBLE_EQ(*one.stolen_s, 0.08);
    EXPECT_DOUBLE_EQ(*look().busy_s, 16.5);
    EXPECT_FALSE(look({0, 7}).busy_s) << "a CPU that the file does not have";
    EXPECT_GE(own_seconds(), 0);
}

TEST_F(FakeSystem, WhatItDoesNotTellIsNotKnown) {
    const auto nothing = look();
    EXPECT_FALSE(nothing.busy_s || nothing.stolen_s || cpu_clock(root_.path()));
    EXPECT_THAT(nothing.throttled, IsEmpty());
    const Span span = span_of(nothing, look(), 2);
    EXPECT_FALSE(span.busy_s || span.throttled || span.mhz_before);
    EXPECT_THAT(check_quiet(quiet_of({span})), IsEmpty());
    EXPECT_THAT(facts_of(quiet_of({span})), IsEmpty());
}

TEST_F(FakeSystem, ReadsClocksAndThrottling) {
    cpu_file("cpufreq/scaling_cur_freq", "2400000\n");
    cpu_file("thermal_throttle/core_throttle_count", "3\n");
    cpu_file("thermal_throttle/package_throttle_count", "5\n");
    EXPECT_DOUBLE_EQ(cpu_clock(root_.path())->mhz, 2400);
    EXPECT_GE(cpu_clock(root_.path())->cpu, 0);
    EXPECT_THAT(look().throttled, ElementsAre(Pair("core 0", 3), Pair("core 1", 3), Pair("package 0", 5)))
        << "a package is one, whichever of its CPUs counts it";
}

/// Two packages, each of one core with two hardware threads: CPUs 0 and 2, and 1 and 3.
class TwoPackages : public FakeSystem {
  protected:
    TwoPackages() {
        for (int cpu = 0; cpu < 4; ++cpu) {
            of_cpu(cpu, "topology/physical_package_id", cpu % 2);
            write(folder(cpu) + "topology/thread_siblings_list", cpu % 2 == 0 ? "0,2\n" : "1,3\n");
        }
    }
    static std::string folder(int cpu) { return "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/"; }
    void of_cpu(int cpu, const std::string& file, int value) {
        write(folder(cpu) + file, std::to_string(value) + "\n");
    }
    void of_package(int package, const std::string& what, int count) {
        for (const int cpu : {package, package + 2})
            of_cpu(cpu, "thermal_throttle/" + what + "_throttle_count", count);
    }
    double grown_since(const Activity& before) { return *span_of(before, look({0, 1, 2, 3}), 4).throttled; }
};

TEST_F(TwoPackages, APackageThatIsAtRestHidesNoOther) {
    of_package(0, "package", 1000);
    of_package(1, "package", 0);
    const auto before = look({0, 1, 2, 3});
    of_package(1, "package", 500);
    EXPECT_DOUBLE_EQ(grown_since(before), 500);
    of_package(0, "package", 1007);
    EXPECT_DOUBLE_EQ(grown_since(before), 507);
}

TEST_F(TwoPackages, ACoreCountsOnceWhateverItsHardwareThreads) {
    of_package(0, "core", 10);
    of_package(1, "core", 10);
    const auto before = look({0, 1, 2, 3});
    of_package(0, "core", 13);
    EXPECT_DOUBLE_EQ(grown_since(before), 3);
}

TEST(Clocks, OfTwoCpusSayNothing) {
    Span span;
    add_clocks(span, CpuClock{3, 1200}, CpuClock{4, 3400});
    EXPECT_FALSE(span.mhz_before || span.mhz_after) << "the thread moved";
    add_clocks(span, std::nullopt, CpuClock{3, 3400});
    add_clocks(span, CpuClock{3, 3400}, std::nullopt);
    EXPECT_FALSE(span.mhz_before || span.mhz_after) << "nothing was counted, or not to its end";
    add_clocks(span, CpuClock{3, 1200}, CpuClock{3, 3400});
    EXPECT_EQ(span.mhz_before, 1200);
    EXPECT_EQ(span.mhz_after, 3400);
}

Activity at(double s, double busy, double stolen, double all) {
    Activity activity;
    activity.at_s = s;
    activity.busy_s = busy;
    activity.stolen_s = stolen;
    activity.all_s = all;
    return activity;
}

Span span(const std::string& host, int rank, double own, double busy) {
    Span one;
    one.rank = rank;
    one.host = host;
    one.looks = rank % 2 == 0;
    one.cpus = 2;
    one.seconds = 10;
    one.own_s = own;
    if (one.looks) one.busy_s = busy;
    return one;
}

TEST(SpanOf, OfASystemThatCountsNothingIsNotKnown) {
    EXPECT_DOUBLE_EQ(*span_of(at(0, 1, 0, 100), at(10, 8, 0, 120), 2).busy_s, 7);
    EXPECT_FALSE(span_of(at(0, 0, 0, 0), at(10, 0, 0, 0), 2).busy_s) << "files of zeros";
}

TEST(Quiet, OthersAreWhatTheRanksOfTheHostDidNotUse) {
    const auto quiet =
        quiet_of({span("a", 0, 9, 19), span("a", 1, 9, 0), span("b", 2, 9, 26), span("b", 3, 9, 0)});
    ASSERT_TRUE(quiet.others_cores);
    EXPECT_DOUBLE_EQ(quiet.others_cores->value, 0.8) << "26 - 18 seconds in 10";
    EXPECT_EQ(quiet.others_cores->host, "b");
    const auto findings = check_quiet(quiet);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_THAT(findings[0].sentence(), AllOf(HasSubstr("b:"), HasSubstr("0.8 of the ranks' CPUs")));
    EXPECT_FALSE(findings[0].fatal);
    EXPECT_THAT(facts_of(quiet), ElementsAre(Pair("others_cores", "0.80"), Pair("others_cores_host", "b")));
}

TEST(Quiet, HalfACoreIsNoTroubleAndAShortSpanSaysNothing) {
    EXPECT_THAT(check_quiet(quiet_of({span("a", 0, 9, 13.9)})), IsEmpty());
    Span brief = span("a", 0, 0, 1.8);
    brief.seconds = 0.9;
    EXPECT_FALSE(quiet_of({brief}).others_cores);
}

TEST(Quiet, NamesStealThrottlingAndAMovingClock) {
    Span one = span("a", 0, 9, 9);
    one.stolen_s = 0.5;
    one.throttled = 12;
    one.mhz_before = 1200;
    one.mhz_after = 3400;
    const auto findings = check_quiet(quiet_of({one, span("a", 1, 0, 0)}));
    ASSERT_EQ(findings.size(), 3U);
    EXPECT_THAT(findings[0].sentence(), HasSubstr("2.5 %"));
    EXPECT_THAT(findings[1].sentence(), HasSubstr("12 times"));
    EXPECT_THAT(findings[2].sentence(), AllOf(HasSubstr("rank 0"), HasSubstr("1200 to 3400 MHz")));
}

TEST_F(FakeSystem, ALoginNodeHasSlurmsCommandsAndNoJob) {
    unsetenv("SLURM_JOB_ID");
    EXPECT_FALSE(check_login_node(root_.path()));
    write("usr/bin/sbatch", "");
    setenv("PATH", "/bin:/usr/bin", 1);
    unsetenv("SLURM_CONF");
    EXPECT_FALSE(check_login_node(root_.path())) << "installed, and of no cluster";
    write("etc/slurm/slurm.conf", "");
    ASSERT_TRUE(check_login_node(root_.path()));
    EXPECT_THAT(check_login_node(root_.path())->sentence(), HasSubstr("login node"));
    setenv("SLURM_JOB_ID", "7", 1);
    EXPECT_FALSE(check_login_node(root_.path()));
    unsetenv("SLURM_JOB_ID");
}

}  // namespace
}  // namespace ranklab::host
