#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/wrap.hpp"
#include "report/formats/formats.hpp"
#include "unit/report/flat_text.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::report::formats {
namespace {

using results::sample_run;
using results::StoredRun;
using testing::HasSubstr;
using testing::Not;
using Texts = std::vector<std::string>;
using Numbers = std::vector<double>;

// Of a training of several ranks, shares as of its phases.
StoredRun trained(double computes, double waits) {
    StoredRun run = sample_run();
    run.tables.push_back(
        {"phases",
         {{"phase", Texts{"forward", "backward", "sync", "other", "step"}},
          {"percent", Numbers{computes / 4, 3 * computes / 4, waits, 100 - computes - waits, 100}}}});
    return run;
}

void add_waiting(StoredRun& run, double share_of_rank_1) {
    run.tables.push_back({"waiting",
                          {{"rank", std::vector<std::int64_t>{0, 1}},
                           {"host", Texts{"node06", "node07"}},
                           {"came_last_share", Numbers{1 - share_of_rank_1, share_of_rank_1}},
                           {"longest_excess_phase", Texts{"none", "backward"}},
                           {"excess_s", Numbers{0, 0.0123}}}});
}

TEST(Answer, BeginsWithTheRates) {
    const std::string text = answer_text(sample_run());
    EXPECT_TRUE(
        text.starts_with("Img/sec per rank: 1600.0 +- 50.0\nTotal img/sec on 2 rank(s): 3200.0 +- 100.0\n"))
        << text;
}

TEST(Answer, SaysTheRateOfACore) {
    StoredRun run = sample_run();
    run.config = {{"threads", "2", true}};
    run.hosts = {{0, 0, "node", "0-1", "cpu", 2, "0-1"}, {1, 1, "node", "2-3", "cpu", 2, "2-3"}};
    EXPECT_THAT(flat(answer_text(run)), HasSubstr("per core 800.0 samples/s on 4 cores step"));
    run.hosts[1].cores = "0-1";
    EXPECT_THAT(
        flat(answer_text(run)),
        HasSubstr("per core 1600.0 samples/s on 2 cores; oversubscribed: 4 compute threads on 2 cores"));
    run.hosts[1].cpus = run.hosts[1].cores = "";
    EXPECT_THAT(answer_text(run), Not(HasSubstr("per core"))) << "nobody knows";
}

TEST(Answer, SaysWhatLimitsTheLargestFirst) {
    EXPECT_THAT(
        flat(answer_text(trained(80, 19.8))),
        HasSubstr("limit 80 % of the mean step computes (forward 20 %, backward 60 %), 20 % waits for "
                  "gradients "));
    EXPECT_THAT(flat(answer_text(trained(40, 60))),
                HasSubstr("limit 60 % of the mean step waits for gradients, 40 %"));
    EXPECT_THAT(answer_text(sample_run()), Not(HasSubstr("limit")));
}

TEST(Answer, NamesARankThatIsMostlyLast) {
    StoredRun run = trained(60, 40);
    add_waiting(run, 0.8);
    run.context.push_back({"communication", "late_rank", "1"});
    EXPECT_THAT(flat(answer_text(run)),
                HasSubstr("; rank 1 on node07 is last in 80 % of the steps (its backward "
                          "takes 12.30 ms longer)"));
    run.context.push_back({"communication", "steps_looked_at", "262 of 10000"});
    EXPECT_THAT(flat(answer_text(run)),
                HasSubstr("is last in 80 % of the steps looked at, 262 of 10000 (its"));
    run.context.clear();
    EXPECT_THAT(answer_text(run), Not(HasSubstr("is last"))) << "the run did not find it so";
}

TEST(Answer, SaysWhenTheLastEvaluationWasMade) {
    StoredRun run = sample_run();
    std::erase_if(run.tables, [](const auto& table) { return table.name == "epochs"; });
    run.measurements.push_back(
        results::one_value(std::string(vocabulary::kTestLoss), "1", results::Kind::cost, {0.3}));
    run.tables.push_back({"epochs",
                          {{"epoch", std::vector<std::int64_t>{5, 6}},
                           {"steps", std::vector<std::int64_t>{40, 14}},
                           {"steps_per_epoch", std::vector<std::int64_t>{40, 40}},
                           {"validation_loss", Numbers{0.3, stats::kNone}}}});
    EXPECT_THAT(flat(answer_text(run)), HasSubstr("after 40 of 40 steps of epoch 5"));
    run.context.push_back({"checkpoint", "resumed_from_step", "190"});
    EXPECT_THAT(flat(answer_text(run)), HasSubstr("after epoch 5")) << "its own steps are not all";
    EXPECT_THAT(answer_text(run), Not(HasSubstr("of 40 steps")));
}

TEST(Answer, SaysWhyItIsNotKnownWhetherCommunicationIsHidden) {
    StoredRun run = sample_run();
    run.measurements.push_back(results::one_value("overlap", "1", results::Kind::ratio, {stats::kNone}));
    run.measurements.back().summary.median = stats::kNone;
    run.context.push_back({"communication", "no_overlap", "the host does not see when the data moves"});
    EXPECT_THAT(flat(answer_text(run)),
                HasSubstr("communication whether it is hidden is not known: the host does "
                          "not see when the data moves"));
    run.measurements.back().summary.median = 0.5;
    run.measurements.back().summary.ci95 = {0.4, 0.6};
    EXPECT_THAT(flat(answer_text(run)),
                HasSubstr("50 % of it hidden behind backward (95 % interval 40 .. 60 %)"));
}

TEST(Answer, OfAnInvalidRunIsThatItIsNot) {
    StoredRun run = sample_run();
    run.valid = false;
    run.exit_code = 3;
    run.warnings = {"the loss is NaN at step 7"};
    const std::string text = answer_text(run);
    EXPECT_TRUE(text.starts_with("INVALID (exit code 3)")) << text;
    EXPECT_THAT(text, HasSubstr("  - the loss is NaN at step 7\n"));
    EXPECT_THAT(text, Not(HasSubstr("mg/sec")));
    EXPECT_EQ(answer_line(run), "INVALID (exit code 3): the loss is NaN at step 7");
}

TEST(Answer, OfAnEmptyRunClaimsNothing) {
    EXPECT_EQ(answer_text({}), "");
    EXPECT_EQ(answer_line({}), "no rate was measured");
}

TEST(Answer, HasThreeWarningsWholeAndSaysHowManyMore) {
    StoredRun run = sample_run();
    run.warnings.assign(5, "many words: " + std::string(400, 'x') + " y");
    const std::string text = answer_text(run, {.all = "--verbose shows all"});
    EXPECT_THAT(text, HasSubstr("and 2 more; --verbose shows all\n"));
    EXPECT_THAT(text, HasSubstr("xx\n                y\n"));
    EXPECT_THAT(text, Not(HasSubstr("...")));
}

TEST(Answer, HasColoursWhereAskedFor) {
    EXPECT_THAT(answer_text(sample_run()), Not(HasSubstr("\033")));
    EXPECT_THAT(answer_text(sample_run(), {.colour = true}),
                HasSubstr("  \033[33mwarning\033[0m       2 ranks"));
    StoredRun run = sample_run();
    run.valid = false;
    EXPECT_TRUE(answer_text(run, {.colour = true}).starts_with("\033[1;31mINVALID\033[0m (exit code"));
}

// Of three strategies, the second one the fastest; intervals as wide as told.
StoredRun ladder(double half_width) {
    StoredRun run;
    run.command = "io";
    run.tables.push_back({"ladder",
                          {{"rung", Texts{"text-loop", "binary", "hdf5-serial"}},
                           {"ranks", std::vector<std::int64_t>{1, 1, 1}},
                           {"workers", std::vector<std::int64_t>{0, 0, 0}},
                           {"n", std::vector<std::int64_t>{7, 7, 7}},
                           {"job_time_s", Numbers{0.1, 0.01, 0.011}},
                           {"low_s", Numbers{0.09, 0.01 - half_width, 0.011 - half_width}},
                           {"high_s", Numbers{0.11, 0.01 + half_width, 0.011 + half_width}},
                           {"write_MiBps", Numbers{10, 100, 90}},
                           {"verified", Texts{"yes", "yes", "yes"}}}});
    return run;
}

TEST(Answer, OfALadderIsTheFastestAndItsTableTheBestFirst) {
    const std::string text = answer_text(ladder(0.0001));
    EXPECT_THAT(
        flat(text),
        HasSubstr("fastest binary, 10.00 ms a job, 10.00 x as fast as text-loop best way to write here: "));
    EXPECT_LT(text.find("best way to write here"), text.find("\n  best first "));
    EXPECT_LT(text.find("\n  best first "), text.find("\n  holds for: "));
    const auto table = text.find("\n  best first ");
    EXPECT_LT(text.find("\n  binary ", table), text.find("\n  hdf5-serial ", table));
    EXPECT_LT(text.find("\n  hdf5-serial ", table), text.find("\n  text-loop ", table));
    EXPECT_THAT(text, HasSubstr("speedup: over text-loop, 100.0 ms\n"));
    EXPECT_THAT(text, HasSubstr("  verified      yes: every value of every strategy\n"));
}

// The line of heads that has them.
std::string line_of_heads(const std::string& text, const std::string& head) {
    const auto at = text.find(head);
    const auto begin = text.rfind('\n', at) + 1;
    return text.substr(begin, text.find('\n', at) - begin);
}

TEST(Answer, OfALadderToldApartByCachesHasThemBesideTheReadings) {
    StoredRun run = ladder(0.0001);
    run.tables[0].columns.push_back({"read_MiBps", Numbers{4000, 5000, 6000}});
    run.tables[0].columns.push_back({"cache", Texts{"warm (all of it)", "cold", "warm (all of it)"}});
    const std::string text = answer_text(run);
    ASSERT_THAT(line_of_heads(text, "best first"), Not(HasSubstr("read MiB/s"))) << "it fits one block";
    EXPECT_THAT(line_of_heads(text, "read MiB/s"), HasSubstr("cache"));
}

TEST(Answer, DoesNotCallFasterWhatIntervalsLeaveOpen) {
    EXPECT_THAT(flat(answer_text(ladder(0.002))),
                HasSubstr("; hdf5-serial may be as fast: their intervals overlap"));
    EXPECT_THAT(
        flat(answer_text(ladder(stats::kNone))),
        HasSubstr("; too few for intervals, so it is not known whether it beats hdf5-serial and 1 more"));
}

TEST(Answer, OfAStrategyThatFailedHasNoTime) {
    StoredRun run = ladder(0.0001);
    run.tables[0].columns.back().values = Texts{"yes", "NO", "yes"};
    const std::string text = answer_text(run);
    EXPECT_THAT(text, HasSubstr("fastest       hdf5-serial"));
    EXPECT_THAT(text, HasSubstr("  binary (INVALID)"));
    EXPECT_THAT(text, HasSubstr("  verified      binary: NO\n"));
}

StoredRun variants(const Texts& batches) {
    StoredRun run;
    run.command = "train";
    run.tables.push_back({"variants",
                          {{"global_batch", batches},
                           {"sync", Texts{"flat", "bucketed"}},
                           {"valid", Texts{"yes", "yes"}},
                           {"step_time_s", Numbers{0.2, 0.1}},
                           {"low_s", Numbers{0.19, 0.09}},
                           {"high_s", Numbers{0.21, 0.11}}}});
    return run;
}

TEST(Answer, OfVariantsNamesTheBase) {
    EXPECT_THAT(flat(answer_text(variants({"64", "64"}))),
                HasSubstr("fastest bucketed, 100.0 ms a step, 2.000 x as fast as flat best first"));
}

TEST(Answer, RanksThatSumNothingAreNeverTheFastest) {
    StoredRun run = variants({"64", "64"});
    run.tables[0].columns[1].values = Texts{"flat", "none"};
    run.config = {{"mode", "ddp", false}};
    run.hosts = {{0, 0, "node", "0", "cpu"}, {1, 1, "node", "1", "cpu"}};
    const std::string text = answer_text(run);
    EXPECT_THAT(text, HasSubstr("fastest       flat, 200.0 ms a step\n"));
    EXPECT_LT(text.find("\n  flat "), text.find("\n  none "));
    EXPECT_THAT(flat(text), HasSubstr("none 100.0 90.00 .. 110.0 n/a"));
    EXPECT_THAT(flat(text), HasSubstr("none: the ranks sum no gradients"));
}

TEST(Answer, StepsOfOtherBatchesAreNotCompared) {
    const std::string text = answer_text(variants({"64", "128"}));
    EXPECT_THAT(text, HasSubstr("2 runs, whose steps are not the same work"));
    EXPECT_THAT(text, Not(HasSubstr("speedup")));
    EXPECT_THAT(text, Not(HasSubstr("fastest")));
    EXPECT_LT(text.rfind("batch 64"), text.rfind("batch 128")) << "as they came";
    EXPECT_THAT(flat(text), HasSubstr("most samples/s at "));
}

TEST(Answer, FitsInto80Columns) {
    StoredRun run = trained(60, 35);
    add_waiting(run, 0.9);
    run.warnings.assign(4, "of many words: " + flat(std::string(300, 'w')) + " and more, more, more of them");
    for (const auto& text :
         {answer_text(run), answer_text(ladder(0.0001)), answer_text(variants({"64", "64"}))}) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);)
            EXPECT_TRUE(base::columns_of(line) <= 80 || line.find("www") != std::string::npos) << line;
    }
}

}  // namespace
}  // namespace ranklab::report::formats
