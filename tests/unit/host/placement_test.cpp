#include "host/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include <numeric>

#include "base/mpirun.hpp"
#include "base/pack.hpp"
#include "host/facts.hpp"
#include "host/launch_counts.hpp"
#include "host/launch_guard.hpp"
#include "host/shared_limits.hpp"

namespace ranklab::host {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// A rank with all CPUs of [first, first + count) and a core for each.
Placement place(int rank, int first, int count, int threads, const std::string& host = "node01") {
    Placement p{
        .rank = rank, .local_rank = rank, .host = host, .cpus = {}, .build = "ranklab 1", .gpus = "none"};
    p.cpus.resize(static_cast<std::size_t>(count));
    std::iota(p.cpus.begin(), p.cpus.end(), first);
    p.cores = p.cpus;
    p.threads = threads;
    return p;
}

TEST(Devices, AreTheProcessorWhereNoGpuComputes) {
    Placement a = place(0, 0, 2, 2), b = place(1, 0, 2, 2, "node02");
    a.cpu = b.cpu = "EPYC";
    a.own_gpu = {.name = "H100", .uuid = "GPU-1"};
    EXPECT_THAT(devices_of({a, b}, false), ::testing::ElementsAre("cpu", "cpu"));
    b.cpu = "Xeon";
    EXPECT_THAT(devices_of({a, b}, false), ::testing::ElementsAre("cpu (EPYC)", "cpu (Xeon)"));
}

TEST(Devices, AreEachRanksGpuWhereOneComputes) {
    Placement a = place(0, 0, 2, 2), b = place(1, 2, 2, 2);
    a.own_gpu = {.name = "H100", .uuid = "GPU-1"};
    b.own_gpu = {.name = "H100", .uuid = "GPU-2"};
    EXPECT_THAT(devices_of({a, b}, true), ::testing::ElementsAre("H100 [GPU-1]", "H100 [GPU-2]"));
}

TEST(Placements, SurviveTheExchange) {
    Placement a = place(3, 4, 2, 2);
    a.cpu = "A CPU @ 3 GHz";
    a.own_gpu = {.name = "H100", .uuid = "GPU-1"};
    const Placement b = base::unpacked<Placement>(base::packed(a)).value();
    EXPECT_EQ(b.cpu, a.cpu);
    EXPECT_EQ(b.own_gpu.text(), "H100 [GPU-1]");
    EXPECT_EQ(b.gpus, a.gpus);
    EXPECT_EQ(b.cpus, a.cpus);
    EXPECT_FALSE(own_placement(0, 0, 1, "x", "none").cpu.empty());
}

std::optional<Finding> connected(int world_size, const std::string& launcher, std::optional<int> launched,
                                 std::optional<int> expected) {
    return check_connected(world_size, launcher, launched, expected, "srun --mpi=pmix, or its own mpirun");
}

TEST(Connected, WhenTheCountsAgree) {
    EXPECT_FALSE(connected(1, "", std::nullopt, std::nullopt));
    EXPECT_FALSE(connected(8, "", std::nullopt, std::nullopt));
    EXPECT_FALSE(connected(8, "Slurm's srun", 8, std::nullopt));
    EXPECT_FALSE(connected(8, "Slurm's srun", 8, 8));
}

TEST(Connected, NotWhenTheLauncherStartedMore) {
    const auto finding = connected(1, "Slurm's srun", 8, std::nullopt);
    ASSERT_TRUE(finding);
    EXPECT_TRUE(finding->fatal);
    EXPECT_THAT(finding->sentence(),
                AllOf(HasSubstr("srun"), HasSubstr("8"), HasSubstr("1 rank"), HasSubstr("--mpi=pmix")));
    EXPECT_THAT(finding->settings, ElementsAre("expect-ranks 1"));
}

TEST(Connected, NotWhenMoreRanksThanTheLauncherStarted) {
    EXPECT_TRUE(connected(4, "Open MPI's mpirun", 2, std::nullopt));
}

TEST(Connected, WhatIsExpectedOverrulesTheLauncher) {
    EXPECT_FALSE(connected(1, "Slurm's srun", 8, 1)) << "meant so: no finding";
    const auto finding = connected(1, "Slurm's srun", 1, 2);
    ASSERT_TRUE(finding);
    EXPECT_TRUE(finding->fatal);
    EXPECT_THAT(finding->sentence(), AllOf(HasSubstr("2 "), HasSubstr("1 rank")));
    EXPECT_THAT(finding->settings, ElementsAre("expect-ranks 2"));
    EXPECT_TRUE(connected(3, "", std::nullopt, 2));
}

TEST(Placements, GoodOnesHaveNoFindings) {
    EXPECT_THAT(check_placements({}), IsEmpty());
    EXPECT_THAT(check_placements({place(0, 0, 4, 4)}), IsEmpty());
    EXPECT_THAT(check_placements({place(0, 0, 2, 2), place(1, 2, 2, 2)}), IsEmpty()) << "own cores";
    EXPECT_THAT(check_placements({place(0, 0, 2, 1), place(1, 0, 2, 1)}), IsEmpty())
        << "one cpuset, a CPU for each thread";
    EXPECT_THAT(check_placements({place(0, 0, 2, 2, "a"), place(1, 0, 2, 2, "b")}), IsEmpty())
        << "equal CPUs of two nodes";
}

TEST(Placements, MoreThreadsThanCoresAreNamedWithTheRemedy) {
    const std::vector<Placement> placements{place(0, 0, 1, 2), place(1, 1, 1, 1)};
    const auto findings = check_placements(placements, "Open MPI's mpirun");
    ASSERT_THAT(findings, SizeIs(::testing::Ge(1U)));
    EXPECT_FALSE(findings.front().fatal);
    EXPECT_THAT(findings.front().sentence(),
                AllOf(HasSubstr("rank 0: 2 threads"), HasSubstr("1 core "), HasSubstr("--map-by slot:PE=2")));
    EXPECT_THAT(findings.front().settings, ElementsAre("threads 1"));
    const auto of_srun = check_placements(placements, "Slurm's srun");
    ASSERT_THAT(of_srun, SizeIs(::testing::Ge(1U)));
    EXPECT_THAT(of_srun.front().sentence(),
                AllOf(HasSubstr("srun --cpus-per-task=2"), Not(HasSubstr("mpi"))));
    EXPECT_THAT(check_placements(placements, "a PMI launcher (mpiexec)").front().sentence(),
                HasSubstr("have the launcher bind each rank to more cores, or use fewer threads"));
}

TEST(Placements, OneProcessWithoutALauncherHearsOfNone) {
    const auto findings = check_placements({place(0, 0, 2, 3)});
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings.front().sentence(), "3 threads, but the cpuset holds 2 cores; use fewer threads");
    EXPECT_THAT(check_placements({place(0, 0, 2, 3)}, "Open MPI's mpirun").front().sentence(),
                AllOf(HasSubstr(base::mpirun()), Not(HasSubstr("Open MPI"))))
        << "who has two cores was not bound to one";
}

TEST(Placements, OneSentenceForAllRanksWithTheSameTrouble) {
    std::vector<Placement> placements;
    for (int rank = 0; rank < 64; ++rank) placements.push_back(place(rank, rank, 1, 2));
    const auto findings = check_placements(placements, "Open MPI's mpirun");
    int about_cores = 0;
    for (const auto& finding : findings) {
        if (finding.sentence().find("Open MPI binds") == std::string::npos) continue;
        ++about_cores;
        EXPECT_THAT(finding.sentence(), HasSubstr("ranks 0-63:"));
    }
    EXPECT_EQ(about_cores, 1);
}

TEST(Placements, RanksThatShareTooFewCpusAreNamed) {
    const auto findings =
        check_placements({place(0, 0, 2, 2), place(1, 0, 2, 2), place(2, 0, 2, 2, "node02")});
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_FALSE(findings[0].fatal);
    EXPECT_THAT(findings[0].sentence(),
                AllOf(HasSubstr("node01"), HasSubstr("ranks 0-1 run 4 threads on 2 cores")));
    EXPECT_THAT(findings[0].settings, ElementsAre("threads 1"));
}

// The others' room is no help to those two, and a core with two hardware threads is one.
TEST(Placements, OnlyThoseThatShareCoresCrowdEachOther) {
    auto findings = check_placements({place(0, 0, 2, 2), place(1, 0, 2, 2), place(2, 2, 4, 1)});
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_THAT(findings[0].sentence(), HasSubstr("ranks 0-1 run 4 threads on 2 cores"));
    Placement a = place(0, 0, 2, 2), b = place(1, 0, 2, 2);
    a.cpus = b.cpus = {0, 1, 8, 9};
    findings = check_placements({a, b});
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_THAT(findings[0].sentence(), HasSubstr("4 threads on 2 cores"));
}

TEST(Placements, FewerThreadsAreNoRemedyForMoreRanksThanCpus) {
    const auto findings = check_placements({place(0, 0, 2, 1), place(1, 0, 2, 1), place(2, 0, 2, 1)});
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_THAT(findings[0].sentence(), AllOf(HasSubstr("ranks 0-2 run 3 threads on 2 cores"),
                                              HasSubstr("use fewer ranks per node")));
    EXPECT_THAT(findings[0].sentence(), ::testing::Not(HasSubstr("fewer threads")));
    EXPECT_THAT(findings[0].settings, IsEmpty());
}

TEST(Placements, DifferingBuildsAreFatal) {
    auto placements =
        std::vector<Placement>{place(0, 0, 1, 1), place(1, 1, 1, 1), place(2, 0, 1, 1, "node02")};
    placements[2].build = "ranklab 2";
    const auto findings = check_placements(placements);
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_TRUE(findings[0].fatal);
    EXPECT_THAT(findings[0].sentence(),
                AllOf(HasSubstr("rank 2 on node02"), HasSubstr("ranklab 2"), HasSubstr("ranklab 1")));
}

TEST(Placement, IsTheSameOnAnotherRank) {
    for (const std::string host : {"node07", "", "node 7, rack b",
                                   "n\xC3\xB6"
                                   "de",
                                   "a;b|c:d\t", "node-07.cluster.example.org"}) {
        Placement p = place(3, 2, 5, 4, host);
        p.local_rank = 1;
        p.gpus = "NVIDIA H200, NVIDIA H200";
        p.build = "";
        const auto copy = base::unpacked<Placement>(base::packed(p)).value();
        EXPECT_EQ(copy.rank, 3);
        EXPECT_EQ(copy.local_rank, 1);
        EXPECT_EQ(copy.host, host);
        EXPECT_EQ(copy.cpus, p.cpus);
        EXPECT_EQ(copy.cores, p.cores);
        EXPECT_EQ(copy.threads, 4);
        EXPECT_EQ(copy.build, "");
        EXPECT_EQ(copy.gpus, p.gpus);
    }
    EXPECT_THAT(base::unpacked<Placement>(base::packed(place(0, 0, 0, 1))).value().cpus, IsEmpty());
}

/// `cpus` of CPU time in a cgroup of that name; 0: no limit.
Placement limited(Placement p, double cpus, const std::string& cgroup = "1:7") {
    p.quota.known = true;
    if (cpus > 0) p.quota.limits.push_back({cpus, cgroup});
    return p;
}

Placement by_default(Placement p) {
    p.threads_by_default = true;
    return p;
}

std::vector<int> settled(std::vector<Placement> placements) {
    settle_threads(placements);
    std::vector<int> threads;
    for (const auto& p : placements) threads.push_back(p.threads);
    return threads;
}

TEST(Quota, CapsTheThreadsThatNobodyAskedFor) {
    const auto rank = by_default(place(0, 0, 64, 64));
    EXPECT_THAT(settled({rank}), ElementsAre(64)) << "not known";
    EXPECT_THAT(settled({limited(rank, 0)}), ElementsAre(64));
    EXPECT_THAT(settled({limited(rank, 2)}), ElementsAre(2));
    EXPECT_THAT(settled({limited(rank, 2.9)}), ElementsAre(2));
    EXPECT_THAT(settled({limited(rank, 0.5)}), ElementsAre(1));
    EXPECT_THAT(settled({limited(rank, 100)}), ElementsAre(64));
    EXPECT_THAT(settled({limited(place(0, 0, 64, 64), 2)}), ElementsAre(64)) << "the user's own number";
    EXPECT_THAT(settled({limited(limited(rank, 2, "own"), 16, "above")}), ElementsAre(2));
}

TEST(Quota, IsDividedByTheRanksThatShareItsCgroup) {
    const auto a = by_default(place(0, 0, 64, 64)), b = by_default(place(1, 0, 64, 64));
    EXPECT_THAT(settled({limited(a, 5), limited(b, 5)}), ElementsAre(2, 2));
    EXPECT_THAT(settled({limited(a, 5, "a"), limited(b, 5, "b")}), ElementsAre(5, 5));
    EXPECT_THAT(settled({limited(limited(a, 5, "a"), 6, "job"), limited(limited(b, 2, "b"), 6, "job")}),
                ElementsAre(3, 2));
    auto elsewhere = b;
    elsewhere.host = "node02";
    EXPECT_THAT(settled({limited(a, 5), limited(elsewhere, 5)}), ElementsAre(5, 5))
        << "the name of a cgroup says nothing on another host";
}

TEST(Quota, ThatThreadsExceedIsNamedWithTheMend) {
    EXPECT_THAT(check_placements({limited(place(0, 0, 64, 2), 2)}), IsEmpty());
    const auto alone = check_placements({limited(place(0, 0, 64, 64), 2)});
    ASSERT_THAT(alone, SizeIs(1));
    EXPECT_FALSE(alone[0].fatal);
    EXPECT_THAT(alone[0].sentence(), AllOf(HasSubstr("node01"), HasSubstr("2 CPUs; 64 threads of rank 0")));
    EXPECT_THAT(alone[0].settings, ElementsAre("threads 2"));
    const auto two = check_placements({limited(place(0, 0, 4, 4), 6), limited(place(1, 4, 4, 4), 6)});
    ASSERT_THAT(two, SizeIs(1));
    EXPECT_THAT(two[0].sentence(), HasSubstr("6 CPUs; 8 threads of ranks 0-1"));
    EXPECT_THAT(two[0].settings, ElementsAre("threads 3"));
}

TEST(Quota, OfLessThanACpuForARankIsMendedByNoFewerThreads) {
    const auto findings = check_placements({limited(place(0, 0, 4, 1), 0.5)});
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_THAT(findings[0].sentence(),
                AllOf(HasSubstr("0.5 CPUs; 1 thread of rank 0"), ::testing::Not(HasSubstr("fewer threads"))));
    EXPECT_THAT(findings[0].settings, IsEmpty());
}

TEST(Quota, TheWorstHostSpeaksForAll) {
    const auto findings =
        check_placements({limited(place(0, 0, 8, 8), 4), limited(place(1, 0, 8, 8, "node02"), 2),
                          place(2, 0, 8, 8, "node03")});
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_THAT(findings[0].sentence(), AllOf(HasSubstr("node02 (the worst of 2 such hosts)"),
                                              HasSubstr("2 CPUs; 8 threads of rank 1")));
}

TEST(Quota, OfAHostIsWhatAllItsRanksMayUse) {
    const auto a = place(0, 0, 64, 64), b = place(1, 0, 64, 64), far = place(2, 0, 64, 64, "node02");
    EXPECT_EQ(quota_text({a}), "unknown");
    EXPECT_EQ(quota_text({}), "unknown");
    EXPECT_EQ(quota_text({limited(a, 0), limited(b, 0)}), "none");
    EXPECT_EQ(quota_text({limited(a, 2.5), limited(b, 2.5)}), "2.5") << "shared";
    EXPECT_EQ(quota_text({limited(a, 2, "a"), limited(b, 2, "b")}), "4") << "each its own";
    EXPECT_EQ(quota_text({limited(limited(a, 2, "a"), 3, "job"), limited(limited(b, 2, "b"), 3, "job")}),
              "3");
    EXPECT_EQ(quota_text({limited(a, 2, "a"), limited(b, 0)}), "none") << "the other rank may use them all";
    EXPECT_EQ(quota_text({limited(a, 2), limited(far, 2)}), "2");
    EXPECT_EQ(quota_text({limited(a, 2), limited(far, 0)}), "2 on node01, none on node02");
}

TEST(Quota, SurvivesTheExchange) {
    const auto sent = by_default(limited(limited(place(0, 0, 4, 4), 2.5, "a"), 8, "b"));
    const auto copy = base::unpacked<Placement>(base::packed(sent)).value();
    EXPECT_TRUE(copy.quota.known && copy.threads_by_default);
    ASSERT_THAT(copy.quota.limits, SizeIs(2));
    EXPECT_EQ(copy.quota.limits[0].cpus, 2.5);
    EXPECT_EQ(copy.quota.limits[1].cgroup, "b");
}

TEST(OwnPlacement, TakesAThreadPerCoreUnlessTold) {
    const auto p = own_placement(2, 1, 0, "build", "no GPU");
    EXPECT_EQ(p.rank, 2);
    EXPECT_EQ(p.local_rank, 1);
    EXPECT_EQ(p.host, host_name());
    EXPECT_EQ(p.cpus, cpuset());
    EXPECT_EQ(p.cores, core_names(cpuset()));
    EXPECT_EQ(p.threads, static_cast<int>(p.cores.size()));
    EXPECT_TRUE(p.threads_by_default);
    EXPECT_EQ(own_placement(0, 0, 3, "", "").threads, 3);
    EXPECT_FALSE(own_placement(0, 0, 3, "", "").threads_by_default);
}

Placement with_libraries(int rank, const std::string& host, std::vector<std::string> libraries) {
    Placement p = place(rank, 2 * rank, 2, 2, host);
    p.libraries = std::move(libraries);
    return p;
}

TEST(Libraries, ThatAreTheSameAreNoFinding) {
    EXPECT_THAT(check_placements({with_libraries(0, "n1", {"MPI 4", "HDF5 1"}),
                                  with_libraries(1, "n2", {"MPI 4", "HDF5 1"})}),
                IsEmpty());
}

// What mends it is said in the words of the launcher that started the ranks.
TEST(Placements, TheRemedyIsInTheLaunchersWords) {
    const std::map<std::string, std::string> words{
        {"Open MPI's mpirun", base::mpirun() + " --map-by slot:PE=4 --bind-to core, or"},
        {"Hydra's mpiexec", base::mpirun() + " -bind-to core:4, or"},
        {"PALS's mpiexec", "mpiexec --cpu-bind depth --depth 4, or"},
        {"Flux's flux run", "flux run --cores-per-task=4, or"},
        {"JSM's jsrun", "jsrun --cpu_per_rs 4 --bind packed:4, or"},
        {"Slurm's srun", "srun --cpus-per-task=4, or"},
        {"a PMI launcher (mpiexec)", "have the launcher bind each rank to more cores, or"},
    };
    for (const auto& [launcher, remedy] : words) {
        const auto findings = check_placements({place(0, 0, 1, 4)}, launcher);
        ASSERT_THAT(findings, SizeIs(1)) << launcher;
        EXPECT_THAT(findings[0].remedy, HasSubstr(remedy)) << launcher;
    }
}

// Hydra binds nothing by itself: two ranks that each take all four cores are told how they get two each.
TEST(Placements, UnboundRanksOfHydraAreToldToBind) {
    const std::vector<Placement> unbound{place(0, 0, 4, 4), place(1, 0, 4, 4)};
    EXPECT_THAT(check_placements(unbound, "Hydra's mpiexec").at(0).remedy,
                HasSubstr(base::mpirun() + " -bind-to core:2"));
    EXPECT_THAT(check_placements(unbound, "Open MPI's mpirun").at(0).remedy, Not(HasSubstr("bind-to")));
}

TEST(Libraries, ThatDifferAreNamedWithoutTheOthers) {
    const auto findings = check_placements(
        {with_libraries(0, "n1", {"MPI 4", "HDF5 1"}), with_libraries(1, "n1", {"MPI 4", "HDF5 1"}),
         with_libraries(2, "n2", {"MPI 5", "HDF5 1"}), with_libraries(3, "n2", {"MPI 5", "HDF5 1"})});
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].id, "different-libraries");
    EXPECT_FALSE(findings[0].fatal);
    EXPECT_THAT(findings[0].what,
                AllOf(HasSubstr("rank 2 on n2 (and 1 more that differ) loaded MPI 5, and rank 0 "
                                "on n1 loaded MPI 4:"),
                      Not(HasSubstr("HDF5"))));
    EXPECT_THAT(findings[0].remedy, HasSubstr("LD_LIBRARY_PATH"));
}

TEST(Libraries, ThatARankLacksAreNamed) {
    const auto findings = check_placements(
        {with_libraries(0, "n1", {"MPI 4"}), with_libraries(1, "n2", {"MPI 4", "libnccl 1"})});
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_THAT(findings[0].what, AllOf(HasSubstr("libnccl 1"), HasSubstr("rank 0 on n1")));
}

Placement with_gpu(int rank, int first_cpu, std::vector<int> near) {
    Placement p = place(rank, first_cpu, 4, 1);
    p.own_gpu = {.name = "H100", .uuid = "GPU-1", .pci_id = "0000:17:00.0", .cpus = std::move(near)};
    return p;
}

TEST(GpuDistance, OfRanksWithACpuNearIsNoFinding) {
    EXPECT_FALSE(check_gpu_distance({place(0, 0, 4, 1)}));                // no GPU
    EXPECT_FALSE(check_gpu_distance({with_gpu(0, 0, {})}));               // the system does not say
    EXPECT_FALSE(check_gpu_distance({with_gpu(0, 0, {0, 1, 2, 3})}));     // all
    EXPECT_FALSE(check_gpu_distance({with_gpu(0, 0, {3, 4, 5, 6, 7})}));  // one
}

TEST(GpuDistance, OfRanksWithNoneIsNamedWithWhatMendsItThere) {
    const std::vector<Placement> ranks{with_gpu(0, 0, {0, 1, 2, 3}), with_gpu(1, 0, {24, 25, 26, 27}),
                                       with_gpu(2, 4, {24, 25, 26, 27})};
    const auto finding = check_gpu_distance(ranks, "Slurm's srun");
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->id, "far-gpu");
    EXPECT_THAT(finding->what,
                AllOf(HasSubstr("rank 1 on node01: H100 [GPU-1] is near CPUs 24-27, and the rank has "
                                "CPUs 0-3"),
                      HasSubstr("(and so for ranks 1-2)")));
    EXPECT_THAT(finding->remedy, HasSubstr("srun --gpus-per-task=1 --gpu-bind=closest"));
    EXPECT_THAT(check_gpu_distance(ranks, "Open MPI's mpirun")->remedy,
                HasSubstr(base::mpirun() + " --map-by numa"));
    EXPECT_THAT(check_gpu_distance(ranks, "a PMI launcher (mpiexec)")->remedy,
                HasSubstr("bind rank 1 to CPUs of 24-27"));
    EXPECT_THAT(check_gpu_distance(ranks)->remedy, HasSubstr("taskset --cpu-list 24-27"));
}

constexpr auto kMpirun = "Open MPI's mpirun";

TEST(SlurmCounts, ThatAgreeOrSayNothingAreNoFinding) {
    EXPECT_FALSE(check_slurm_counts(4, kMpirun, std::nullopt, std::nullopt));
    EXPECT_FALSE(check_slurm_counts(4, kMpirun, 4, std::nullopt));
    EXPECT_FALSE(check_slurm_counts(4, kMpirun, 8, 4));
    EXPECT_FALSE(check_slurm_counts(4, "Slurm's srun", 8, 2));  // check_connected's
    EXPECT_FALSE(check_slurm_counts(1, "", 8, std::nullopt));
}

TEST(SlurmCounts, OfAJobThatIsNotFilledAreNamed) {
    const auto finding = check_slurm_counts(4, kMpirun, 8, std::nullopt);
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->id, "slurm-tasks-differ");
    EXPECT_THAT(finding->what, AllOf(HasSubstr("8 tasks"), HasSubstr("4 ranks")));
    EXPECT_THAT(finding->remedy, HasSubstr("--ntasks=4"));
    EXPECT_THAT(check_slurm_counts(9, kMpirun, 8, std::nullopt)->what, HasSubstr("share cores"));
}

TEST(SlurmCounts, OfAStepThatIsTooSmallAreNamed) {
    const auto finding = check_slurm_counts(4, kMpirun, 1, 1);
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->id, "more-ranks-than-step");
    EXPECT_THAT(finding->what, AllOf(HasSubstr("4 ranks"), HasSubstr("1 task")));
    EXPECT_THAT(finding->remedy, HasSubstr("--ntasks=4"));
}

}  // namespace
}  // namespace ranklab::host
