#include "host/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/pack.hpp"
#include "host/facts.hpp"

namespace ranklab::host {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A rank with all CPUs of [first, first + count) and a core for each.
Placement place(int rank, int first, int count, int threads, const std::string& host = "node01") {
    Placement p{
        .rank = rank, .local_rank = rank, .host = host, .cpus = {}, .build = "ranklab 1", .gpus = "none"};
    p.cpus.resize(static_cast<std::size_t>(count));
    std::iota(p.cpus.begin(), p.cpus.end(), first);
    p.cores = count;
    p.threads = threads;
    return p;
}

TEST(Devices, AreTheProcessorWhereNoGpuComputes) {
    Placement a = place(0, 0, 2, 2), b = place(1, 0, 2, 2, "node02");
    a.cpu = b.cpu = "EPYC";
    a.own_gpu = "H100 [GPU-1]";
    EXPECT_THAT(devices_of({a, b}, false), ::testing::ElementsAre("cpu", "cpu"));
    b.cpu = "Xeon";
    EXPECT_THAT(devices_of({a, b}, false), ::testing::ElementsAre("cpu (EPYC)", "cpu (Xeon)"));
}

TEST(Devices, AreEachRanksGpuWhereOneComputes) {
    Placement a = place(0, 0, 2, 2), b = place(1, 2, 2, 2);
    a.own_gpu = "H100 [GPU-1]";
    b.own_gpu = "H100 [GPU-2]";
    EXPECT_THAT(devices_of({a, b}, true), ::testing::ElementsAre("H100 [GPU-1]", "H100 [GPU-2]"));
}

TEST(Placements, SurviveTheExchange) {
    Placement a = place(3, 4, 2, 2);
    a.cpu = "A CPU @ 3 GHz";
    a.own_gpu = "H100 [GPU-1]";
    const Placement b = base::unpacked<Placement>(base::packed(a)).value();
    EXPECT_EQ(b.cpu, a.cpu);
    EXPECT_EQ(b.own_gpu, a.own_gpu);
    EXPECT_EQ(b.gpus, a.gpus);
    EXPECT_EQ(b.cpus, a.cpus);
    EXPECT_FALSE(own_placement(0, 0, 1, "x", "none").cpu.empty());
}

TEST(Connected, WhenTheCountsAgree) {
    EXPECT_FALSE(check_connected(1, "", std::nullopt, std::nullopt));
    EXPECT_FALSE(check_connected(8, "", std::nullopt, std::nullopt));
    EXPECT_FALSE(check_connected(8, "Slurm's srun", 8, std::nullopt));
    EXPECT_FALSE(check_connected(8, "Slurm's srun", 8, 8));
}

TEST(Connected, NotWhenTheLauncherStartedMore) {
    const auto finding = check_connected(1, "Slurm's srun", 8, std::nullopt);
    ASSERT_TRUE(finding);
    EXPECT_TRUE(finding->fatal);
    EXPECT_THAT(finding->sentence, AllOf(HasSubstr("Slurm's srun"), HasSubstr("8 processes"),
                                         HasSubstr("1 rank:"), HasSubstr("--mpi=pmix")));
    EXPECT_THAT(finding->settings, ElementsAre("expect-ranks 1"));
}

TEST(Connected, NotWhenMoreRanksThanTheLauncherStarted) {
    EXPECT_TRUE(check_connected(4, "Open MPI's mpirun", 2, std::nullopt));
}

TEST(Connected, WhatIsExpectedOverrulesTheLauncher) {
    EXPECT_FALSE(check_connected(1, "Slurm's srun", 8, 1)) << "meant so: no finding";
    const auto finding = check_connected(1, "Slurm's srun", 1, 2);
    ASSERT_TRUE(finding);
    EXPECT_TRUE(finding->fatal);
    EXPECT_THAT(finding->sentence, AllOf(HasSubstr("2 were expected"), HasSubstr("1 rank;")));
    EXPECT_THAT(finding->settings, ElementsAre("expect-ranks 2"));
    EXPECT_TRUE(check_connected(3, "", std::nullopt, 2));
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
    const auto findings = check_placements({place(0, 0, 1, 2), place(1, 1, 1, 1)});
    ASSERT_THAT(findings, SizeIs(::testing::Ge(1U)));
    EXPECT_FALSE(findings.front().fatal);
    EXPECT_THAT(findings.front().sentence,
                AllOf(HasSubstr("rank 0: 2 threads"), HasSubstr("1 core "),
                      HasSubstr("Open MPI binds each rank to one core"), HasSubstr("--map-by slot:PE=2"),
                      HasSubstr("--cpus-per-task=2"), HasSubstr("fewer threads")));
    EXPECT_THAT(findings.front().settings, ElementsAre("threads 1"));
}

TEST(Placements, OneSentenceForAllRanksWithTheSameTrouble) {
    std::vector<Placement> placements;
    for (int rank = 0; rank < 64; ++rank) placements.push_back(place(rank, rank, 1, 2));
    const auto findings = check_placements(placements);
    int about_cores = 0;
    for (const auto& finding : findings) {
        if (finding.sentence.find("Open MPI binds") == std::string::npos) continue;
        ++about_cores;
        EXPECT_THAT(finding.sentence, HasSubstr("ranks 0-63:"));
    }
    EXPECT_EQ(about_cores, 1);
}

TEST(Placements, RanksThatShareTooFewCpusAreNamed) {
    const auto findings =
        check_placements({place(0, 0, 2, 2), place(1, 0, 2, 2), place(2, 0, 2, 2, "node02")});
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_FALSE(findings[0].fatal);
    EXPECT_THAT(findings[0].sentence,
                AllOf(HasSubstr("node01"), HasSubstr("ranks 0-1 run 4 threads on 2 CPUs"),
                      HasSubstr("or fewer threads")));
    EXPECT_THAT(findings[0].settings, ElementsAre("threads 1"));
}

TEST(Placements, FewerThreadsAreNoRemedyForMoreRanksThanCpus) {
    const auto findings = check_placements({place(0, 0, 2, 1), place(1, 0, 2, 1), place(2, 0, 2, 1)});
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_THAT(findings[0].sentence,
                AllOf(HasSubstr("ranks 0-2 run 3 threads on 2 CPUs"), HasSubstr("use fewer ranks per node")));
    EXPECT_THAT(findings[0].sentence, ::testing::Not(HasSubstr("fewer threads")));
    EXPECT_THAT(findings[0].settings, IsEmpty());
}

TEST(Placements, DifferingBuildsAreFatal) {
    auto placements =
        std::vector<Placement>{place(0, 0, 1, 1), place(1, 1, 1, 1), place(2, 0, 1, 1, "node02")};
    placements[2].build = "ranklab 2";
    const auto findings = check_placements(placements);
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_TRUE(findings[0].fatal);
    EXPECT_THAT(findings[0].sentence,
                AllOf(HasSubstr("rank 2 on node02 runs ranklab 2"), HasSubstr("ranklab 1")));
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
        EXPECT_EQ(copy.cores, 5);
        EXPECT_EQ(copy.threads, 4);
        EXPECT_EQ(copy.build, "");
        EXPECT_EQ(copy.gpus, p.gpus);
    }
    EXPECT_THAT(base::unpacked<Placement>(base::packed(place(0, 0, 0, 1))).value().cpus, IsEmpty());
}

TEST(OwnPlacement, TakesAThreadPerCoreUnlessTold) {
    const auto p = own_placement(2, 1, 0, "build", "no GPU");
    EXPECT_EQ(p.rank, 2);
    EXPECT_EQ(p.local_rank, 1);
    EXPECT_EQ(p.host, host_name());
    EXPECT_EQ(p.cpus, cpuset());
    EXPECT_EQ(p.threads, p.cores);
    EXPECT_EQ(own_placement(0, 0, 3, "", "").threads, 3);
}

}  // namespace
}  // namespace ranklab::host
