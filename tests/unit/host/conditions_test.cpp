#include "host/conditions.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>

#include "base/pack.hpp"
#include "fake_root.hpp"
#include "host/facts.hpp"

namespace ranklab::host {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

Conditions host_of(const std::string& host, std::vector<std::string> governors = {},
                   const std::string& boost = "") {
    return {.rank = 0, .host = host, .governors = std::move(governors), .boost = boost};
}

TEST(Conditions, WithoutAnyFactAreNoFinding) {
    EXPECT_THAT(check_conditions({}), IsEmpty());
    EXPECT_THAT(check_conditions({host_of("n1"), host_of("n2")}), IsEmpty());
}

TEST(Conditions, OfASteadyJobAreNoFinding) {
    auto of = host_of("n1", {"performance"}, "on");
    of.job_cpus = of.host_cores = 48;
    EXPECT_THAT(check_conditions({of, of}), IsEmpty());
    of.job_cpus = 96;  // hardware threads
    EXPECT_THAT(check_conditions({of}), IsEmpty());
}

TEST(Conditions, NameAGovernorThatFollowsTheLoad) {
    const auto findings = check_conditions({host_of("n1", {"performance"}), host_of("n2", {"powersave"}),
                                            host_of("n2", {"schedutil"}), host_of("n3", {"powersave"})});
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].id, "governor");
    EXPECT_FALSE(findings[0].fatal);
    EXPECT_THAT(findings[0].what,
                AllOf(HasSubstr("n2 and 1 more host"), HasSubstr("powersave"), Not(HasSubstr("n1"))));
    EXPECT_THAT(findings[0].remedy, AllOf(HasSubstr("cpupower frequency-set -g performance"),
                                          HasSubstr("srun --cpu-freq=Performance")));
}

TEST(Conditions, NameHostsOfWhichOneMayGoFaster) {
    const auto findings =
        check_conditions({host_of("n1", {}, "on"), host_of("n2"), host_of("n3", {}, "off")});
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].id, "boost-differs");
    EXPECT_THAT(findings[0].what, AllOf(HasSubstr("n1"), HasSubstr("n3")));
}

TEST(Conditions, NameAPartOfAHost) {
    auto of = host_of("n1");
    of.job_cpus = 4;
    of.host_cores = 48;
    const auto findings = check_conditions({of, of});
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].id, "shared-host");
    EXPECT_THAT(findings[0].what, AllOf(HasSubstr("n1"), HasSubstr("4 of 48 cores")));
    EXPECT_THAT(findings[0].remedy, HasSubstr("sbatch --exclusive"));
}

TEST(Conditions, SurviveTheExchange) {
    auto of = host_of("n1", {"powersave"}, "off");
    of.job_cpus = 3;
    of.host_cores = 5;
    const auto other = base::unpacked<Conditions>(base::packed(of)).value();
    EXPECT_EQ(other.fields(other), of.fields(of));
}

TEST(SlurmCounts, HaveAMost) {
    EXPECT_EQ(most_cpus_in("48"), 48);
    EXPECT_EQ(most_cpus_in("4(x2),24"), 24);
    EXPECT_EQ(most_cpus_in("96(x100)"), 96);
    EXPECT_EQ(most_cpus_in(""), 0);
    EXPECT_EQ(most_cpus_in("many"), 0);
    EXPECT_EQ(most_cpus_in("4,x"), 0);
}

class OwnConditions : public FakeRoot {
  protected:
    void govern(const std::string& name) {
        for (const int cpu : cpuset())
            write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/scaling_governor",
                  name + "\n");
    }
    Conditions seen() const { return own_conditions(0, root_.path()); }
};

TEST_F(OwnConditions, AreUnknownWhereTheSystemIsSilent) {
    EXPECT_THAT(seen().governors, IsEmpty());
    EXPECT_EQ(seen().boost, "");
    EXPECT_EQ(seen().host_cores, 0);
}

TEST_F(OwnConditions, AreRead) {
    govern("schedutil");
    EXPECT_THAT(seen().governors, ElementsAre("schedutil"));
    write("sys/devices/system/cpu/online", "0-1,4\n");
    EXPECT_EQ(seen().host_cores, 3);
    write("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1\n");
    write("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n");
    EXPECT_EQ(seen().host_cores, 2);
    write("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    EXPECT_EQ(seen().boost, "on");
    write("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    EXPECT_EQ(seen().boost, "off");
    write("sys/devices/system/cpu/cpufreq/boost", "1\n");
    EXPECT_EQ(seen().boost, "on");
}

TEST_F(OwnConditions, KnowWhatSlurmGave) {
    setenv("SLURM_JOB_CPUS_PER_NODE", "12(x2)", 1);
    EXPECT_EQ(seen().job_cpus, 12);
    unsetenv("SLURM_JOB_CPUS_PER_NODE");
    EXPECT_EQ(seen().job_cpus, 0);
}

TEST(Clocks, ThatAgreeAreNoFinding) {
    EXPECT_FALSE(check_clocks({}));
    EXPECT_FALSE(check_clocks({{"n1", 0, 0}}));
    EXPECT_FALSE(check_clocks({{"n1", 0, 0}, {"n2", 0.09, 0.00001}, {"n3", -0.005, 0.00001}}));
}

TEST(Clocks, ThatMayAgreeAreNoFinding) {
    EXPECT_FALSE(check_clocks({{"n1", 0, 0}, {"n2", 0.4, 0.5}}));
}

TEST(Clocks, ThatAreApartAreNamed) {
    const auto finding = check_clocks({{"n1", 0, 0}, {"n2", 0.7, 0.0001}, {"n3", -1.3, 0.0001}});
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->id, "clocks-apart");
    EXPECT_THAT(finding->what, AllOf(HasSubstr("n2 is 2 s"), HasSubstr("n3")));
    EXPECT_THAT(finding->remedy, HasSubstr("chronyc tracking"));
}

}  // namespace
}  // namespace ranklab::host
