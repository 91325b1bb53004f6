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
    run.hosts = {{0, 0, "node", "0-1", "cpu"}, {1, 1, "node", "2-3", "cpu"}};
    EXPECT_THAT(flat(answer_text(run)), HasSubstr("per core 800.0 samples/s on 4 cores step"));
    run.hosts[1].cpus = "0-1";
    EXPECT_THAT(
        flat(answer_text(run)),
        HasSubstr("per core 1600.0 samples/s on 2 cores; oversubscribed: 4 compute threads on 2 CPUs"));
    run.hosts[1].cpus = "";
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
    EXPECT_THAT(flat(answer_text(run)),
                HasSubstr("; rank 1 on node07 is last in 80 % of the steps (its backward "
                          "takes 12.30 ms longer)"));
    run = trained(60, 40);
    add_waiting(run, 0.6);
    EXPECT_THAT(answer_text(run), Not(HasSubstr("is last")));
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

TEST(Answer, HasEachWarningOnTwoLinesAndSaysHowManyMore) {
    StoredRun run = sample_run();
    run.warnings.assign(5, std::string(400, 'x') + " y");
    run.warnings[0] = "many words " + flat(std::string(90, 'a') + " b") + std::string(200, 'c');
    const std::string text = answer_text(run, {.all = "--verbose shows all"});
    EXPECT_THAT(text, HasSubstr("and 2 more; --verbose shows all\n"));
    EXPECT_THAT(text, HasSubstr("...\n"));
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
    EXPECT_THAT(flat(text),
                HasSubstr("fastest binary, 10.00 ms a job, 10.00 x as fast as text-loop best first"));
    EXPECT_LT(text.find("\n  binary "), text.find("\n  hdf5-serial "));
    EXPECT_LT(text.find("\n  hdf5-serial "), text.find("\n  text-loop "));
    EXPECT_THAT(text, HasSubstr("speedup: over text-loop, 100.0 ms\n"));
    EXPECT_THAT(text, HasSubstr("  verified      yes: every value of every strategy\n"));
}

TEST(Answer, DoesNotCallFasterWhatIntervalsLeaveOpen) {
    EXPECT_THAT(flat(answer_text(ladder(0.002))),
                HasSubstr("; hdf5-serial is no different: their intervals overlap"));
    EXPECT_THAT(flat(answer_text(ladder(stats::kNone))),
                HasSubstr("; too few for intervals, so whether hdf5-serial differs is not known"));
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

TEST(Answer, StepsOfOtherBatchesAreNotCompared) {
    const std::string text = answer_text(variants({"64", "128"}));
    EXPECT_THAT(text, HasSubstr("2 runs, whose steps are not the same work"));
    EXPECT_THAT(text, Not(HasSubstr("speedup")));
    EXPECT_THAT(text, Not(HasSubstr("fastest")));
    EXPECT_LT(text.find("batch 64"), text.find("batch 128"));
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
