// Whether a run stores each rank's samples or not changes no number of it.
#include "experiments/shared/measurements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "many_ranks.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

using ranklab::testing::ManyRanks;
using results::Measurement;
using ::testing::ElementsAre;

constexpr std::size_t kWarmup = 2;

// Rank r's step takes longer by r microseconds, but in every third one, where rank 0 is the
// slowest.
void others(int rank, comm::BufferView part) {
    if (part.dtype != comm::DType::f64) return;
    std::span values(static_cast<double*>(part.data), part.count);
    for (double& value : values) value += value > 1 ? -1e-6 * rank : 1e-6 * rank;
}

std::vector<double> steps(std::size_t rows) {
    std::vector<double> all;
    for (std::size_t r = 0; r < rows; ++r)
        all.push_back((r % 3 == 2 ? 1.5 : 0.5) + 0.001 * static_cast<double>(r * 7 % 10));
    return all;
}

struct Made {
    results::Run run;
    std::size_t bytes;
};

Made made(int ranks, std::size_t rows, int most_stored = kMostRanksStored) {
    ManyRanks job(ranks, others);
    Made all;
    RankMeasurements of_ranks(all.run, job, 0, most_stored);
    of_ranks.add(vocabulary::kStepTime, "step", steps(rows), kWarmup);
    of_ranks.add(vocabulary::kEpochTime, "epoch", std::vector<double>{3, 4, 5});
    of_ranks.add_of_run(vocabulary::kPeakMemory, 100);
    of_ranks.finish();
    add_statistics(all.run);
    all.bytes = job.bytes;
    return all;
}

void expect_same_numbers(const Measurement& a, const Measurement& b) {
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.rows(), b.rows());
    EXPECT_EQ(a.largest_of_rows(), b.largest_of_rows());
    EXPECT_EQ(a.largest_of(a.warmup), b.largest_of(b.warmup));
    const auto all = [](const stats::Summary& one) {
        return std::vector<double>{one.median, one.mean, one.min, one.max, one.p95, one.p99};
    };
    EXPECT_EQ(all(a.summary), all(b.summary)) << a.name;
    if (a.summary.n >= 6) {
        EXPECT_EQ(a.summary.ci95.low, b.summary.ci95.low);
        EXPECT_EQ(a.summary.ci95.high, b.summary.ci95.high);
    }
}

TEST(RankMeasurements, UpTo64RanksAllAreStored) {
    const auto few = made(kMostRanksStored, 40);
    EXPECT_EQ(few.run.find(vocabulary::kStepTime)->columns, 64U);
    EXPECT_EQ(few.run.find(vocabulary::kStepTime)->rows(), 38U);
    EXPECT_EQ(few.run.find(vocabulary::kStepTime)->warmup.size(), kWarmup * 64);
    EXPECT_EQ(few.run.find_table("rank_summaries"), nullptr);
    const auto more = made(kMostRanksStored + 1, 40);
    for (const auto& m : more.run.measurements) EXPECT_EQ(m.columns, 1U) << m.name;
    EXPECT_NE(more.run.find_table("rank_summaries"), nullptr);
}

TEST(RankMeasurements, WhatIsStoredChangesNoNumber) {
    const auto all = made(5, 400, 5);
    const auto folded = made(5, 400, 4);
    ASSERT_EQ(folded.run.measurements.size(), all.run.measurements.size());
    for (std::size_t i = 0; i < all.run.measurements.size(); ++i)
        expect_same_numbers(all.run.measurements[i], folded.run.measurements[i]);
}

TEST(RankMeasurements, TenThousandRanksExchangeTheirSummaries) {
    constexpr std::size_t kRanks = 10000, kRows = 32;
    const auto wide = made(kRanks, kRows);
    EXPECT_EQ(wide.run.find_table("rank_summaries")->find<std::int64_t>("rank")->size(),
              3 * kRanks);
    EXPECT_LT(wide.bytes, kRanks * (3 * 5 + 1) * sizeof(double)) << "five numbers of a series";
}

TEST(RankMeasurements, SumsUpEachRank) {
    const auto some = made(4, 8, 3);
    const auto* table = some.run.find_table("rank_summaries");
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->find<std::string>("measurement")->at(4), vocabulary::kEpochTime);
    EXPECT_EQ(table->find<std::int64_t>("rank")->at(5), 1);
    EXPECT_EQ(table->find<std::int64_t>("n")->at(0), 6) << "without its warm-up";
    EXPECT_EQ(table->find<std::int64_t>("n")->at(4), 3);
    EXPECT_DOUBLE_EQ(table->find<double>("max")->at(4), 5);
    EXPECT_DOUBLE_EQ(table->find<double>("median")->at(5), 4 - 1e-6);
}

// Ranks from 3 on took no part, and hand in `no_part`.
ManyRanks::Others three_of(double no_part) {
    return [no_part](int rank, comm::BufferView part) {
        if (rank < 3)
            ManyRanks::add_rank(rank, part);
        else
            std::ranges::fill(std::span(static_cast<double*>(part.data), part.count), no_part);
    };
}

TEST(RankMeasurements, LeavesOutWhoTookNoPart) {
    for (const int most_stored : {8, 7}) {
        ManyRanks job(8, three_of(-HUGE_VAL)), of_sums(8, three_of(0));
        results::Run run;
        RankMeasurements of_ranks(run, job, 3, most_stored);
        of_ranks.add(vocabulary::kJobTime, "repetition", std::vector<double>{1, 2});
        EXPECT_THAT(run.measurements.back().largest_of_rows(), ElementsAre(3, 4));
        EXPECT_EQ(run.measurements.back().columns, most_stored == 8 ? 3U : 1U);
        of_ranks.add_imbalance(2);  // 2, 3, 4
        EXPECT_DOUBLE_EQ(run.measurements.back().summary.median, 1.0 / 3);
        EXPECT_THAT(RankMeasurements(run, of_sums, 3).sums({1, 10}),
                    ElementsAre(1 + 2 + 3, 10 + 11 + 12));
    }
    ManyRanks seen_by_the_last(8, {}, 7);
    results::Run run;
    EXPECT_THAT(RankMeasurements(run, seen_by_the_last, 3).largest({5}), ElementsAre(-HUGE_VAL));
}

TEST(Measurements, ARateIsSumOverSum) {
    const auto m = rate(vocabulary::kThroughput, "step", std::vector<double>{64, 64},
                        std::vector<double>{1, 3});
    EXPECT_THAT(m.samples, ElementsAre(64, 64.0 / 3));
    EXPECT_DOUBLE_EQ(m.summary.mean, 32);
    EXPECT_EQ(m.unit, "samples/s");
}

TEST(Measurements, TheWarmupStandsApart) {
    const auto m = one_column(vocabulary::kLoss, "step", "mean", {9, 3, 2, 1}, 1);
    EXPECT_THAT(m.warmup, ElementsAre(9));
    EXPECT_THAT(m.samples, ElementsAre(3, 2, 1));
    EXPECT_EQ(m.summary.n, 3U);
}

}  // namespace
}  // namespace ranklab::experiments
