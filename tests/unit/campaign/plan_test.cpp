// The combinations of a sweep, their order, and the command of each.
#include "campaign/plan.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.hpp"
#include "base/text.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::campaign {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const Machine kHere{1, 4, false};

Sweep sweep(const std::string& program, const std::string& line, const Machine& machine = kHere) {
    const auto words = line.empty() ? std::vector<std::string>{} : base::split(line, ' ');
    const auto given = options::Options::parse(sweep_options(program), words);
    return plan_sweep(request_of(program, given), machine, "L");
}

// "RANKSxCORES WORDS" of each point, without what all have.
std::vector<std::string> points(const Sweep& of) {
    std::vector<std::string> lines;
    for (const auto& point : of.points) {
        const std::string line = base::shell_quote({point.words.begin() + 1, point.words.end()});
        const std::string end = "--label " + of.label + " --output " + of.output.string();
        EXPECT_THAT(line, EndsWith(end));
        lines.push_back(base::trim(std::to_string(point.need.ranks) + "x" +
                                   std::to_string(point.need.cores) + " " +
                                   line.substr(0, line.size() - end.size())));
    }
    return lines;
}

std::string refusal(const std::string& program, const std::string& line) {
    return tests::thrown_sentence<base::OptionError>([&] { sweep(program, line); });
}

TEST(PlanOfASweep, CombinesEachValueWithEachOther) {
    const Sweep of = sweep("train", "--ranks 1,2 --threads 1,2 --steps 30 --seed 7");
    EXPECT_THAT(
        points(of),
        ElementsAre("1x1 --steps 30 --seed 7 --threads 1", "1x2 --steps 30 --seed 7 --threads 2",
                    "2x1 --steps 30 --seed 7 --threads 1", "2x2 --steps 30 --seed 7 --threads 2"));
    EXPECT_EQ(of.points[3].name, "ranks=2,threads=2");
    EXPECT_THAT(of.keys, ElementsAre("ranks", "threads"));
    EXPECT_EQ(of.repeat, 3);
}

TEST(PlanOfASweep, RowsOfOneTableStayInOneProcess) {
    const Sweep io = sweep("io", "--strategy mpi-send,mpi-scatter --ranks 1,2 --workers 3");
    EXPECT_THAT(points(io), ElementsAre("1x3 --strategy mpi-send,mpi-scatter --workers 3",
                                        "2x3 --strategy mpi-send,mpi-scatter --workers 3"));
    EXPECT_THAT(io.keys, ElementsAre("strategy", "ranks"));
    EXPECT_THAT(
        points(sweep("comm", "--op allreduce,broadcast --sizes 1K,1M --backend mpi --ranks 2,3")),
        ElementsAre("2x1 --op allreduce,broadcast --backend mpi --sizes 1K,1M",
                    "3x1 --op allreduce,broadcast --backend mpi --sizes 1K,1M"));
}

TEST(PlanOfASweep, FlagsAndShortNamesAreTheProgramsOwn) {
    EXPECT_THAT(sweep("io", "--size 20,30 --strategy binary").keys, ElementsAre("size", "ranks"));
    EXPECT_THAT(sweep("train", "--threads 1,2").keys, ElementsAre("threads"));
    EXPECT_THAT(points(sweep("io", "-n 4 -e --size 20,30")),
                ElementsAre("1x1 --files 4 --size 20 --fsync", "1x1 --files 4 --size 30 --fsync"));
}

TEST(PlanOfASweep, FlagsAreVariedAsOffAndOn) {
    const Sweep of = sweep("train", "--jit false,true --fused-optimizer --steps 30 --threads 1");
    EXPECT_THAT(points(of), ElementsAre("1x1 --steps 30 --fused-optimizer --threads 1",
                                        "1x1 --steps 30 --fused-optimizer --jit --threads 1"));
    EXPECT_THAT(of.keys, ElementsAre("jit", "ranks"));
    EXPECT_THAT(refusal("train", "--jit maybe"), HasSubstr("'maybe'"));
}

TEST(PlanOfASweep, WeakScalingGivesEachRankAsMuchAndStrongAllTogether) {
    EXPECT_THAT(points(sweep("io", "--files 4 --scaling weak --ranks 1,3")),
                ElementsAre("1x1 --files 4", "3x1 --files 12"));
    EXPECT_THAT(points(sweep("io", "--files 4 --scaling strong --ranks 1,3")),
                ElementsAre("1x1 --files 4", "3x1 --files 4"));
    EXPECT_THAT(points(sweep("io", "--scaling weak --ranks 2")), ElementsAre("2x1 --files 30"));
    EXPECT_THAT(refusal("train", "--scaling strong --batch-size 8"),
                HasSubstr("--global-batch-size"));
    EXPECT_THAT(refusal("train", "--scaling weak --global-batch-size 8"),
                HasSubstr("--batch-size"));
    EXPECT_THAT(refusal("comm", "--scaling weak"), HasSubstr("comm"));
}

TEST(PlanOfASweep, OneDeviceModesHaveTheCoresOfAllRanks) {
    EXPECT_THAT(points(sweep("train", "--mode single,dp,ddp --ranks 2 --threads 1 --batch-size 8")),
                ElementsAre("1x2 --global-batch-size 16 --mode single --threads 2",
                            "1x2 --global-batch-size 16 --mode dp --replicas 2 --threads 2",
                            "2x1 --batch-size 8 --mode ddp --threads 1"));
    EXPECT_THAT(sweep("train", "--mode single,ddp --ranks 2,4 --threads 1 --batch-size 8").keys,
                ElementsAre("ranks", "mode", "threads"));
    EXPECT_THAT(sweep("train", "--mode single,ddp --ranks 2 --batch-size 8").keys,
                ElementsAre("mode", "ranks"));
    EXPECT_THAT(refusal("train", "--mode single,ddp --ranks 2"), HasSubstr("--global-batch-size"));
}

TEST(PlanOfASweep, OneRankReducesNothingAndIsOnePoint) {
    EXPECT_THAT(
        points(sweep("train", "--ranks 1,2 --threads 1 --sync flat,bucketed --mode ddp")),
        ElementsAre("1x1 --mode single --threads 1", "2x1 --mode ddp --sync flat --threads 1",
                    "2x1 --mode ddp --sync bucketed --threads 1"));
}

TEST(PlanOfASweep, WhatRanksDoTogetherIsLeftOutAtOneRank) {
    EXPECT_THAT(points(sweep("train",
                             "--ranks 1,2 --threads 1 --compress none,fp16 --overlap-steps 10 "
                             "--bucket-cap-mb 4 --transfer blocking --steps 30")),
                ElementsAre("1x1 --steps 30 --threads 1",
                            "2x1 --steps 30 --bucket-cap-mb 4 --transfer blocking --compress none "
                            "--overlap-steps 10 --threads 1",
                            "2x1 --steps 30 --bucket-cap-mb 4 --transfer blocking --compress fp16 "
                            "--overlap-steps 10 --threads 1"));
}

TEST(PlanOfASweep, AFileWithACommaIsOneModel) {
    const tests::TempFolder folder;
    folder.write("a,b.pt", "network");
    const auto model = (folder / "a,b.pt").string();
    const Sweep of = sweep("train", "--threads 1 --model " + model);
    ASSERT_EQ(of.points.size(), 1U);
    EXPECT_THAT(of.points[0].words, ::testing::Contains(model));
}

TEST(PlanOfASweep, KnowsTheContentsOfItsFiles) {
    const tests::TempFolder folder;
    const auto hash = [&](const char* network, const char* data) {
        folder.write("n.pt", network);
        folder.write("x.npy", data);
        const auto at = [&](const char* name) { return (folder / name).string(); };
        return inputs_hash(
            {"train",
             {},
             {{"model", at("n.pt")}, {"inputs", at("x.npy")}, {"targets", at("x.npy") + ":/y"}}});
    };
    const auto first = hash("a", "b");
    EXPECT_EQ(hash("a", "b"), first);
    EXPECT_NE(hash("c", "b"), first);
    EXPECT_NE(hash("a", "c"), first);
}

TEST(PlanOfASweep, CoresAreDividedAmongTheRanksOfTheWidestPoint) {
    ::unsetenv("OMP_NUM_THREADS");
    EXPECT_THAT(points(sweep("train", "--ranks 1,2")),
                ElementsAre("1x2 --threads 2", "2x2 --threads 2"));
    EXPECT_THAT(points(sweep("train", "--ranks 8", {2, 16, true})), ElementsAre("8x4 --threads 4"));
    EXPECT_THAT(points(sweep("train", "--ranks 8")), ElementsAre("8x1 --threads 1"));
    ::setenv("OMP_NUM_THREADS", "3", 1);
    EXPECT_THAT(points(sweep("train", "--ranks 1,2")),
                ElementsAre("1x3 --threads 3", "2x3 --threads 3"));
    ::unsetenv("OMP_NUM_THREADS");
}

TEST(PlanOfASweep, ARaceStartsEachStrategyAloneAndTwiceAtFirst) {
    const Sweep of = sweep("io", "--race --strategy binary,mpi-send --ranks 2 --budget 4");
    EXPECT_THAT(points(of), ElementsAre("2x1 --strategy binary", "2x1 --strategy mpi-send"));
    EXPECT_THAT(of.keys, ElementsAre("strategy", "ranks"));
    EXPECT_EQ(of.repeat, 2);
    EXPECT_THAT(refusal("io", "--race --strategy binary"), HasSubstr("--race"));
    EXPECT_THAT(refusal("io", "--race --strategy all"), HasSubstr("--race"));
    EXPECT_THAT(refusal("io", "--race --strategy binary --size 10,20 --budget 3"),
                HasSubstr("give 4 or more"));
    EXPECT_THAT(refusal("io", "--race --strategy binary --size 10,20 --min-effect 3"),
                HasSubstr("--min-effect"));
}

TEST(PlanOfASweep, ValuesAreRefusedBeforeAnythingStarts) {
    EXPECT_THAT(refusal("train", "--threads 1,two"), HasSubstr("two"));
    EXPECT_THAT(refusal("train", "--ranks 1,0"), HasSubstr("'0'"));
    EXPECT_THAT(refusal("train", "--mode single,dpp --batch-size 8"), HasSubstr("dp?"));
    EXPECT_THAT(refusal("io", "--sise 3"), HasSubstr("--size"));
    EXPECT_THAT(refusal("train", "--checkpoint d"), HasSubstr("--checkpoint"));
    EXPECT_THAT(refusal("io", "--output none"), HasSubstr("--output"));
}

TEST(OrderOfASweep, VisitsAllPointsOncePerRoundAndFollowsFromTheSeed) {
    Sweep of = sweep("io", "--size 10,11,12,13,14,15,16,17 --repeat 3");
    const auto places = [](const std::vector<Task>& tasks, int repetition) {
        std::vector<std::size_t> all;
        for (const auto& task : tasks)
            if (task.repetition == repetition) all.push_back(task.point);
        return all;
    };
    const auto tasks = tasks_of(of, std::vector<int>(8));
    ASSERT_EQ(tasks.size(), 24U);
    for (std::size_t i = 0; i < tasks.size(); ++i)
        EXPECT_EQ(tasks[i].repetition, 1 + static_cast<int>(i) / 8);
    for (int round = 1; round <= 3; ++round)
        EXPECT_THAT(places(tasks, round), ::testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    EXPECT_NE(places(tasks, 1), places(tasks, 2));
    EXPECT_EQ(places(tasks, 1), places(tasks_of(of, std::vector<int>(8)), 1));
    of.seed = 2;
    EXPECT_NE(places(tasks, 1), places(tasks_of(of, std::vector<int>(8)), 1));
}

TEST(OrderOfASweep, LeavesOutWhatIsStored) {
    const Sweep of = sweep("io", "--size 10,11 --repeat 2");
    const auto tasks = tasks_of(of, {2, 1});
    ASSERT_EQ(tasks.size(), 1U);
    EXPECT_EQ(tasks.front().point, 1U);
    EXPECT_EQ(tasks.front().repetition, 2);
}

std::string start_of(const std::string& line, const Machine& machine) {
    Sweep of = sweep("train", line, machine);
    of.inputs_hash = "1f";
    return base::shell_quote(command_of(of, of.points.front()));
}

TEST(CommandOfAPoint, StartsTheLauncherAndTheProgram) {
    EXPECT_THAT(
        start_of("--launcher srun --ranks 4 --threads 2 --steps 3", {2, 4, true}),
        AllOf(StartsWith("srun --exact --kill-on-bad-exit=1 --mpi="),
              HasSubstr(
                  " --nodes=2 --ntasks=4 --cpus-per-task=2 --cpu-bind=cores --distribution=block "),
              HasSubstr("/ranklab train --steps 3 --threads 2 --label L --output "
                        "results/ranklab.h5 --inputs-hash 1f")));
    EXPECT_THAT(
        start_of("--ranks 2 --threads 1 --placement cyclic", {2, 4, true}),
        HasSubstr(
            " --nodes=2 --ntasks=2 --cpus-per-task=1 --cpu-bind=cores --distribution=cyclic "));
    EXPECT_THAT(start_of("--ranks 2 --threads 1", {2, 4, true}),
                HasSubstr(" --nodes=1 --ntasks=2 "));
    EXPECT_THAT(start_of("--ranks 2 --threads 1 --ranks-per-node 1", {2, 4, true}),
                HasSubstr(" --nodes=2 "));
    EXPECT_THAT(start_of("--ranks 9 --threads 1", {2, 4, true}),
                HasSubstr(" --ntasks=9 --overcommit "));
    EXPECT_THAT(start_of("--ranks 3 --threads 1 --launcher mpirun", {2, 4, true}),
                HasSubstr(" -n 3 "));
    EXPECT_TRUE(sweep("train", "--ranks 2,4 --threads 1").launch.bound);
    EXPECT_FALSE(sweep("train", "--ranks 2,5 --threads 1").launch.bound)
        << "no point, so that all are alike";
}

TEST(CommandOfAPoint, TakesEachHostsOwnCores) {
    EXPECT_EQ(numbers_of_hosts("64(x2),32"), (std::vector<int>{64, 64, 32}));
    EXPECT_TRUE(numbers_of_hosts("").empty());
    Machine uneven(2, 4, true);
    uneven.cores = {4, 2};
    EXPECT_THAT(start_of("--ranks 6 --threads 1", uneven), HasSubstr(" --nodes=2 --ntasks=6 "));
    EXPECT_THAT(start_of("--ranks 4 --threads 1", uneven), HasSubstr(" --nodes=1 --ntasks=4 "));
    EXPECT_THAT(start_of("--ranks 7 --threads 1", uneven), HasSubstr(" --overcommit "));
    EXPECT_THAT(points(sweep("train", "--ranks 2", uneven)), ElementsAre("2x2 --threads 2"));
}

TEST(CommandOfAPoint, OneRankOfSeveralReplicasHasTheGpusOfAsManyTasks) {
    ::setenv("SLURM_GPUS_PER_TASK", "1", 1);
    EXPECT_THAT(start_of("--ranks 4 --threads 1", {1, 4, true}),
                HasSubstr(" --gpus-per-task=1 --gpu-bind=none "));
    EXPECT_THAT(start_of("--mode dp --ranks 4 --threads 1 --batch-size 8", {1, 4, true}),
                HasSubstr(" --ntasks=1 --gpus-per-task=4 --gpu-bind=none "));
    ::unsetenv("SLURM_GPUS_PER_TASK");
}

TEST(CommandOfAPoint, TakesTheLaunchersWordsInPlaceOfItsOwn) {
    const auto given = options::Options::parse(
        sweep_options("io"), {"--launcher-options", "--oversubscribe --bind-to none"});
    const Sweep of = plan_sweep(request_of("io", given), kHere, "L");
    EXPECT_THAT(base::shell_quote(command_of(of, of.points.front())),
                AllOf(HasSubstr(" -n 1 --oversubscribe --bind-to none /"), Not(HasSubstr("core"))));
}

}  // namespace
}  // namespace ranklab::campaign
