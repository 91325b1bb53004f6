
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/shared/measurements.hpp"
#include "stats/interval.hpp"
#include "unit/stats/simulated.hpp"

namespace ranklab::experiments {
namespace {

using stats::Random;
using stats::simulated::lognormal;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Steps of two ranks; the second is always the slower one.
measure::RankSamples two_ranks(const std::vector<double>& slower) {
    measure::RankSamples all{2, {}};
    for (const double time : slower) {
        all.values.push_back(time / 2);
        all.values.push_back(time);
    }
    return all;
}

results::Run run_of(const std::vector<double>& steps, std::size_t warmup) {
    results::Run run;
    run.measurements.push_back(by_rank("step_time_s", "step", two_ranks(steps), warmup));
    return run;
}

std::vector<double> scaled(const std::vector<double>& x, double factor) {
    return stats::simulated::times(x, factor);
}

TEST(Statistics, TheIntervalAllowsForCorrelation) {
    Random random(1);
    const auto steps = lognormal(random, 1000, 0.1, 0.5);
    results::Run run = run_of(steps, 0);
    const stats::Interval ordinary = run.measurements[0].summary.ci95;
    add_statistics(run);
    const stats::Interval seen = run.measurements[0].summary.ci95;
    EXPECT_EQ(seen.low, stats::estimate_median(steps).ci.low);
    EXPECT_EQ(seen.high, stats::estimate_median(steps).ci.high);
    EXPECT_GT(seen.high - seen.low, 1.2 * (ordinary.high - ordinary.low));
    EXPECT_THAT(*run.tables.at(0).find<std::string>("method"), ElementsAre("long-run variance"));
}

TEST(Statistics, AnIntervalAsWideAsItsValueIsWarnedOf) {
    results::Run wide = run_of({1, 9, 1, 9, 1, 9, 5, 5}, 0);
    add_statistics(wide);
    EXPECT_THAT(wide.warnings, testing::Contains(HasSubstr("--target-ci 5%")));
    results::Run narrow = run_of({5, 5.1, 5.2, 5, 5.1, 5.2, 5, 5.1}, 0);
    add_statistics(narrow);
    EXPECT_THAT(narrow.warnings, testing::Not(testing::Contains(HasSubstr("--target-ci"))));
}

TEST(Statistics, FewIndependentSamplesAreWarnedOf) {
    Random random(2);
    results::Run run = run_of(lognormal(random, 30, 0.1, 0.95), 10);
    add_statistics(run);
    ASSERT_EQ(run.warnings.size(), 1U);
    const double effective = run.tables.at(0).find<double>("effective_n")->at(0);
    EXPECT_LT(effective, 10);
    EXPECT_THAT(run.warnings[0], HasSubstr(fmt::format("worth {:.0f} independent", effective)));
}

TEST(Statistics, CountsOutliers) {
    Random random(3);
    auto steps = lognormal(random, 200, 0.03);
    for (std::size_t i = 0; i < 35; ++i) steps[i] *= 2;
    steps[100] = 50;
    steps[150] = 1e-3;
    results::Run run = run_of(steps, 10);
    add_statistics(run);
    const results::Table& table = run.tables.at(0);
    EXPECT_EQ(table.name, "statistics");
    EXPECT_THAT(*table.find<std::int64_t>("n"), ElementsAre(190));
    EXPECT_THAT(*table.find<std::int64_t>("warmup_fixed"), ElementsAre(10));
    EXPECT_THAT(*table.find<std::int64_t>("outliers_low"), ElementsAre(1));
    EXPECT_THAT(*table.find<std::int64_t>("outliers_high"),
                ElementsAre(26));                    // 25 slow steps were counted, and one
    EXPECT_EQ(run.measurements[0].summary.max, 50);  // not dropped
}

TEST(Statistics, PhasesThatMatterAndNoOthers) {
    Random random(4);
    const auto steps = lognormal(random, 100, 0.05);
    results::Run run = run_of(steps, 0);
    const auto add = [&](const char* name, const char* axis, std::vector<double> samples) {
        run.measurements.push_back(one_column(name, axis, "max", std::move(samples)));
    };
    add("forward_time_s", "step", scaled(steps, 0.5));
    add("copy_time_s", "step", scaled(steps, 0.01));
    add("epoch_time_s", "epoch", {1, 2, 3});  // below 6 there is no interval
    add("peak_rss_bytes", "run", std::vector<double>(8, 1.0));
    add_statistics(run);
    EXPECT_THAT(*run.tables.at(0).find<std::string>("name"),
                ElementsAre("step_time_s", "forward_time_s"));
    EXPECT_TRUE(std::isnan(run.find("epoch_time_s")->summary.ci95.low));
    EXPECT_FALSE(std::isnan(run.find("copy_time_s")->summary.ci95.low));
    EXPECT_THAT(run.warnings, IsEmpty());
}

TEST(Statistics, AtMostEightRows) {
    Random random(5);
    const auto steps = lognormal(random, 20, 0.05);
    results::Run run = run_of(steps, 0);
    for (int i = 0; i < 12; ++i)
        run.measurements.push_back(one_column("forward_time_s", "step", "max", steps));
    add_statistics(run);
    EXPECT_EQ(run.tables.at(0).find<std::string>("name")->size(), 8U);
}

TEST(Statistics, RatiosAreNotAveraged) {
    results::Run run = run_of({1, 2, 3}, 0);
    run.measurements.push_back(one_column("train_loss", "step", "mean", {3, 2, 1}));
    run.measurements.push_back(one_column("load_imbalance", "run", "max/mean-1", {0.5}));
    add_statistics(run);
    EXPECT_DOUBLE_EQ(run.find("step_time_s")->summary.mean, 2);
    EXPECT_TRUE(std::isnan(run.find("train_loss")->summary.mean));
    EXPECT_DOUBLE_EQ(run.find("train_loss")->summary.median, 2);
    EXPECT_DOUBLE_EQ(run.find("load_imbalance")->summary.mean, 0.5);
}

TEST(Statistics, AFewStepsSayNothing) {
    results::Run run = run_of({1, 2, 3, 4, 5}, 0);
    add_statistics(run);
    EXPECT_THAT(run.tables, IsEmpty());
    EXPECT_THAT(run.warnings, IsEmpty());
}

}  // namespace
}  // namespace ranklab::experiments
