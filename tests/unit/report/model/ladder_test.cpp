// The ladder of `ranklab io`, and the messages of `ranklab comm`.
#include "report/model/ladder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/frame/frame.hpp"
#include "report/model/network.hpp"
#include "unit/report/comm_runs_sample.hpp"
#include "unit/report/io_runs_sample.hpp"
#include "unit/report/outputs.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::model {
namespace {

using results::StoredRun;
using ::testing::ElementsAre;

Verdict advice_of(const std::vector<std::pair<std::string, RungTime>>& rungs,
                  const std::string& verified = "yes") {
    StoredRun run = ladder_run(rungs, std::vector<std::string>(rungs.size()));
    for (auto& column : run.tables[0].columns)
        if (column.name == "verified")
            column.values = std::vector<std::string>(rungs.size(), verified);
    return ladder_of(run).findings.front().verdict;
}

TEST(Ladder, NamesTheTierOfTheFastest) {
    const Ladder ladder = ladder_of(sample_ladder());
    const Frame& table = ladder.table;
    ASSERT_EQ(table.rows.size(), 10U);
    const Finding& best = ladder.findings.front();
    EXPECT_EQ(best.verdict, Verdict::best_tier);
    EXPECT_EQ(best.subject, "mpi-send, 2 ranks");
    EXPECT_THAT(best.alike, testing::Contains("mpi-scatter, 2 ranks"));
    for (std::size_t row = 0; row < table.rows.size(); ++row)
        EXPECT_EQ(table.at(row, "tier").text == "as fast",
                  table.at(row, "strategy").text.starts_with("mpi-"));
    EXPECT_EQ(table.at(ladder.base, "strategy").text, "text-loop, 2 ranks");
    EXPECT_EQ(advice_of({{"a", {1, {0.9, 1.1}}}, {"b", {2, {1.9, 2.1}}}}), Verdict::fastest_alone);
    EXPECT_EQ(advice_of({{"a", {1, {}}}, {"b", {2, {}}}}), Verdict::no_intervals);
    EXPECT_EQ(advice_of({{"a", {1, {0.9, 1.1}}}}), Verdict::one_verified);
    EXPECT_EQ(advice_of({{"a", {1, {0.9, 1.1}}}}, "NO"), Verdict::nothing_verified);
}

TEST(Ladder, IsAsStored) {
    Outputs all;
    all.add("narrow, by time", text_of(frame_of(ladder_of(sample_ladder()), false)));
    all.add("wide", text_of(frame_of(ladder_of(sample_ladder()), true)));
    all.expect("ladder.txt");
}

TEST(Messages, AreCurvesByWhatTheyAreOf) {
    const auto curves = size_curves_of(comm_run({{}, {.op = "alltoall", .in_place = false}}));
    ASSERT_EQ(curves.size(), 3U);
    std::vector<std::string> names;
    for (const auto& curve : curves)
        names.push_back(full_name(curve.front()) + " " + curve.front().place);
    EXPECT_THAT(names, ElementsAre("allreduce fp32 out-of-place", "allreduce fp32 in-place",
                                   "alltoall fp32 out-of-place"));
    const auto run = comm_run();
    const auto all = messages_of(run);
    EXPECT_EQ(headline_message(run, all)->bytes, 4194304);
}

}  // namespace
}  // namespace ranklab::report::model
