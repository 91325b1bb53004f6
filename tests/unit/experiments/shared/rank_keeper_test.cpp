// What is kept of ranks' samples changes no number of a run, and what grows with the ranks is what was asked
// for.
#include "experiments/shared/rank_keeper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "experiments/shared/statistics_table.hpp"
#include "many_ranks.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

using ranklab::testing::ManyRanks;
using results::KeptSamples;
using results::Measurement;
using ::testing::ElementsAre;

// Rank r's step takes longer by r microseconds, but in every third one, where rank 0 is the slowest.
void others(int rank, comm::BufferView part) {
    if (part.dtype != comm::DType::f64) return;
    std::span values(static_cast<double*>(part.data), part.count);
    for (double& value : values) value += value > 1 ? -1e-6 * rank : 1e-6 * rank;
}

measure::Spool steps(std::size_t rows) {
    measure::Spool spool(2);
    for (std::size_t r = 0; r < rows; ++r) {
        const double step = (r % 3 == 2 ? 1.5 : 0.5) + 0.001 * static_cast<double>(r * 7 % 10);
        const std::vector<double> row{step, step / 2};
        spool.push(row);
    }
    return spool;
}

struct Made {
    results::Run run;
    std::size_t bytes, largest;
};

Made made(int ranks, std::size_t rows, KeptSamples kept) {
    ManyRanks job(ranks, others);
    RankKeeper keeper(job, kept);
    const auto mine = steps(rows);
    Made all;
    const auto series = keeper.series(mine);
    all.run.measurements.push_back(keeper.by_rank(vocabulary::kStepTime, "step", series[0], mine, 0, 2));
    all.run.measurements.push_back(keeper.by_rank("forward_time_s", "step", series[1], mine, 1, 2));
    all.run.measurements.push_back(keeper.by_rank(vocabulary::kEpochTime, "epoch", {3, 4, 5}, 1));
    all.run.measurements.push_back(keeper.of_run(vocabulary::kPeakMemory, 100));
    add_statistics(all.run);
    keeper.finish(all.run);
    all.bytes = job.bytes;
    all.largest = job.largest;
    return all;
}

void expect_same_numbers(const Measurement& a, const Measurement& b) {
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.rows(), b.rows());
    EXPECT_EQ(a.largest_of_rows(), b.largest_of_rows());
    const auto& s = a.summary;
    const auto& t = b.summary;
    const auto all = [](const stats::Summary& one) {
        return std::vector<double>{one.median, one.mean, one.min, one.max, one.p95, one.p99};
    };
    EXPECT_EQ(s.n, t.n);
    EXPECT_EQ(all(s), all(t)) << a.name;
    if (s.n >= 6) {
        EXPECT_EQ(s.ci95.low, t.ci95.low);
        EXPECT_EQ(s.ci95.high, t.ci95.high);
    }
}

// Short enough to be held, and so long that all of it is streamed.
TEST(RankKeeper, ChangesNoNumberOfTheRun) {
    for (const auto& [ranks, rows] : {std::pair<int, std::size_t>{4, 40}, {700, 400}}) {
        const auto all = made(ranks, rows, KeptSamples::all);
        EXPECT_EQ(all.run.measurements.front().stream != nullptr, ranks == 700);
        for (const auto kept : {KeptSamples::ranks, KeptSamples::summary}) {
            const auto some = made(ranks, rows, kept);
            ASSERT_EQ(some.run.measurements.size(), all.run.measurements.size());
            for (std::size_t i = 0; i < all.run.measurements.size(); ++i)
                expect_same_numbers(all.run.measurements[i], some.run.measurements[i]);
            const auto outliers = [](const results::Run& run) {
                return *run.find_table("statistics")->find<std::int64_t>("warmup_detected");
            };
            EXPECT_EQ(outliers(all.run), outliers(some.run));
        }
    }
}

TEST(RankKeeper, KeepsOfTenThousandRanksWhatItIsAskedFor) {
    constexpr int kRanks = 10000;
    constexpr std::size_t kRows = 32;
    const auto ranks = made(kRanks, kRows, KeptSamples::ranks);
    const auto* table = ranks.run.find_table(results::kRankSummaries);
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->find<std::int64_t>("rank")->size(), std::size_t{3} * kRanks) << "three series";
    EXPECT_EQ(ranks.run.find(vocabulary::kStepTime)->columns, 1U);
    EXPECT_EQ(ranks.run.find(vocabulary::kPeakMemory)->columns, std::size_t{kRanks});
    const auto summary = made(kRanks, kRows, KeptSamples::summary);
    EXPECT_EQ(summary.run.find_table(results::kRankSummaries), nullptr);
    for (const auto& m : summary.run.measurements) EXPECT_EQ(m.columns, 1U) << m.name;
    EXPECT_LT(summary.bytes, 2 * (kRows * 2 + 8) * sizeof(double)) << "nothing that grows with the ranks";
    EXPECT_LT(ranks.bytes, std::size_t{kRanks} * (3 * 5 + 2) * sizeof(double)) << "five numbers of a series";
    const auto all = made(kRanks, kRows, KeptSamples::all);
    EXPECT_GT(all.bytes, std::size_t{kRanks} * kRows * 2 * sizeof(double));
}

TEST(RankKeeper, SumsUpEachRank) {
    const auto made_of = made(4, 8, KeptSamples::ranks);
    const auto* table = made_of.run.find_table(results::kRankSummaries);
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->find<std::string>("measurement")->at(8), vocabulary::kEpochTime);
    EXPECT_EQ(table->find<std::int64_t>("rank")->at(9), 1);
    EXPECT_EQ(table->find<std::int64_t>("n")->at(8), 2) << "without its warm-up";
    EXPECT_EQ(table->find<std::int64_t>("n")->at(0), 6);
    EXPECT_DOUBLE_EQ(table->find<double>("max")->at(8), 5);
}

// What the ranks from 3 on hand in, who took no part.
ManyRanks::Others three_of(double no_part) {
    return [no_part](int rank, comm::BufferView part) {
        if (rank < 3)
            ManyRanks::add_rank(rank, part);
        else
            std::ranges::fill(std::span(static_cast<double*>(part.data), part.count), no_part);
    };
}

TEST(RankKeeper, LeavesOutWhoTookNoPart) {
    for (const auto kept : {KeptSamples::all, KeptSamples::ranks, KeptSamples::summary}) {
        ManyRanks job(8, three_of(-HUGE_VAL)), of_sums(8, three_of(0));
        RankKeeper keeper(job, kept, 3);
        const auto m = keeper.by_rank(vocabulary::kJobTime, "repetition", {1, 2});
        EXPECT_THAT(m.largest_of_rows(), ElementsAre(3, 4));
        EXPECT_EQ(m.columns, kept == KeptSamples::all ? 3U : 1U);
        EXPECT_THAT(keeper.means({9, 1, 3}, 1), ElementsAre(2, 3, 4)) << "of the counted rows";
        EXPECT_THAT(RankKeeper(of_sums, kept, 3).sums({1, 10}), ElementsAre(1 + 2 + 3, 10 + 11 + 12));
    }
    ManyRanks seen_by_the_last(8, {}, 7);
    const RankKeeper keeper(seen_by_the_last, KeptSamples::summary, 3);
    EXPECT_THAT(keeper.largest({5}), ElementsAre(-HUGE_VAL)) << "what it hands in";
}

// The one that others waited for is named by its run; of it the row stays.
TEST(RankKeeper, KeepsTheRowOfALateRank) {
    for (const bool is_late : {true, false}) {
        ManyRanks job(3, ManyRanks::add_rank);
        RankKeeper keeper(job, KeptSamples::summary);
        results::Run run;
        run.tables = {
            {"waiting",
             {{"rank", std::vector<std::int64_t>{0, 1, 2}}, {"excess_s", std::vector<double>{1, 2, 3}}}},
            {"io_ranks", {{"rank", std::vector<std::int64_t>{0, 1, 2}}}},
            {"phases", {{"hits", std::vector<std::int64_t>{5}}}}};
        if (is_late) run.context.push_back({"communication", "late_rank", "1"});
        keeper.finish(run);
        ASSERT_EQ(run.tables.size(), is_late ? 2U : 1U);
        EXPECT_EQ(run.tables.back().name, "phases");
        if (is_late) {
            EXPECT_THAT(*run.tables.front().find<double>("excess_s"), ElementsAre(2));
        }
    }
}

}  // namespace
}  // namespace ranklab::experiments
