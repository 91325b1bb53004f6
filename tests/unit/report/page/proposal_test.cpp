#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/page/parts.hpp"
#include "thrown_sentence.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::page {
namespace {

using model::PublishedCurve;
using results::StoredRun;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using tests::thrown_sentence;

// One thread per rank on its own CPU, four ranks per node.
StoredRun run_of(const std::string& id, int ranks, double step_s, bool weak) {
    StoredRun run = step_run(id, ranks, step_s);
    for (auto& [key, value, number] : run.config) {
        if (key == "global-batch-size") value = std::to_string(weak ? 32 * ranks : 32);
        if (key == "batch-size") value = std::to_string(weak ? 32 : 32 / ranks);
    }
    for (std::size_t rank = 0; rank < run.hosts.size(); ++rank) {
        run.hosts[rank].cpus = std::to_string(rank % 4);
        run.hosts[rank].host = "node0" + std::to_string(rank / 4);
    }
    return run;
}

struct Measured {
    int ranks;
    double step_s;
};

Frame table_of(const std::vector<Measured>& measured, bool weak, int repeats = 1) {
    std::vector<StoredRun> runs;
    for (const auto& [ranks, step_s] : measured)
        for (int i = 0; i < repeats; ++i)
            runs.push_back(
                run_of(fmt::format("{}-{}", ranks, i), ranks, step_s * (1 + 0.002 * i), weak));
    const StoredRuns stored(runs);
    const model::Groups groups(stored.chosen(), {});
    for (const auto& section : figures::scaling_over_ranks({groups, stored.file(), {}}))
        if ((section.id == "weak-scaling") == weak) return section.tables.front();
    return {};
}

struct Expected {
    double speedup, efficiency, per_doubling;
};

// Computed by hand for T = 8, 5, 2 s on 1, 2, 8 ranks.
TEST(ScalingTable, HasTheEfficiencyOverTheBaseAndTheSpeedupPerDoubling) {
    const std::vector<Measured> times{{1, 8}, {2, 5}, {8, 2}};
    for (const auto& [weak, expected] : std::vector<std::pair<bool, std::vector<Expected>>>{
             {false, {{1.6, 0.8, 1.6}, {4, 0.5, std::sqrt(2.5)}}},
             {true, {{3.2, 1.6, 3.2}, {32, 4, std::sqrt(10)}}}}) {
        const Frame found = table_of(times, weak);
        ASSERT_THAT(found.rows, SizeIs(3));
        for (const char* figure : {"speedup", "efficiency"})
            EXPECT_EQ(found.at(0, figure).number, 1);
        EXPECT_TRUE(found.at(0, "speedup_per_doubling").empty());
        for (std::size_t i = 1; i < 3; ++i) {
            const auto& [speedup, efficiency, per_doubling] = expected[i - 1];
            EXPECT_NEAR(found.at(i, "speedup").number, speedup, 1e-9) << weak << i;
            EXPECT_NEAR(found.at(i, "efficiency").number, efficiency, 1e-9) << weak << i;
            EXPECT_NEAR(found.at(i, "speedup_per_doubling").number, per_doubling, 1e-9);
        }
        EXPECT_EQ(found.at(2, "nodes").number, 2);
        EXPECT_TRUE(std::isnan(found.at(2, "speedup_per_doubling").interval.low))
            << "single runs have no interval";
    }
}

TEST(ScalingTable, OfRepeatsHasIntervalsThatFollowTheirFormula) {
    const Frame found = table_of({{1, 8}, {4, 3}}, false, 3);
    const auto& [text, ratio, ci] = found.at(1, "speedup_per_doubling");
    const auto& speedup = found.at(1, "speedup").interval;
    EXPECT_LT(ci.low, ratio);
    EXPECT_NEAR(ci.low, std::sqrt(speedup.low), 1e-9);
    EXPECT_NEAR(ci.high, std::sqrt(speedup.high), 1e-9);
}

PublishedCurve published(double efficiency, const char* caution = "") {
    PublishedCurve curve;
    curve.weak = true, curve.caution = caution;
    curve.x = {1, 2, 8}, curve.rates_per_x = {1, efficiency, efficiency};
    curve.first_beyond_one_node = 8;
    return curve;
}

TEST(Placement, IsAmongCurvesOfTheSameKindFactorAndLevel) {
    std::vector<PublishedCurve> all;
    for (const double efficiency : {0.5, 0.6, 0.7, 0.8, 0.9}) all.push_back(published(efficiency));
    all.push_back(published(1.9, "no-communication"));
    all.push_back(published(1.9, "contradicts"));
    all.push_back(published(1.9));
    all.back().weak = false;
    all.push_back(published(1.9));
    all.back().first_beyond_one_node = 2;  // the second point spans nodes
    Frame own;
    for (const char* name : {"series", "ranks", "nodes", "speedup", "efficiency"})
        own.columns.push_back({.name = name});
    own.rows = {{{"mine", 1, 1, 1, 1}},
                {{"mine", 2, 1, 1.5, 0.75}},
                {{"mine", 8, 2, 2.4, 0.3}},
                {{"mine", 16, 2, stats::kNone, stats::kNone}}};
    const Frame frame = placed_among(all, {{"weak-scaling", "", {}, {own}}});
    ASSERT_THAT(frame.rows, SizeIs(2));
    EXPECT_EQ(frame.at(0, "published_curves").number, 5);
    EXPECT_NEAR(frame.at(0, "published_median").number, 0.7, 1e-12);
    EXPECT_EQ(frame.at(0, "place").text, "usual");
    EXPECT_EQ(frame.at(1, "published_curves").number, 6);
    EXPECT_EQ(frame.at(1, "place").text, "below most");
    for (auto& row : own.rows) row.caveats.push_back({CaveatKind::oversubscribed});
    const Frame none = placed_among(all, {{"weak-scaling", "", {}, {own}}});
    EXPECT_THAT(none.rows, SizeIs(0));
    EXPECT_THAT(none.notes.back(), HasSubstr("4 points oversubscribed"));
    for (auto& row : own.rows) row.caveats.clear();
    const Frame few = placed_among({published(0.9)}, {{"weak-scaling", "", {}, {own}}});
    EXPECT_EQ(few.at(0, "published_curves").number, 1);
    EXPECT_TRUE(few.at(0, "published_median").empty());
    EXPECT_EQ(few.at(0, "place").text, "too few published");
}

TEST(Reach, EndsBeforeTheFirstPointBelowTheThreshold) {
    // Over the base 0.8, 0.5, 0.48; per doubling 1.6, 1.25, 1.92.
    const std::vector<Measured> times{{1, 8}, {2, 5}, {4, 4}, {8, 8 / 3.84}};
    for (const auto& [centre, repeats, row, verdict] :
         std::vector<std::tuple<Centre, int, std::size_t, Verdict>>{
             {{.threshold = 0.75}, 3, 1, Verdict::reaches},
             {{.threshold = 0.75}, 1, 1, Verdict::reaches_without_interval},
             {{.threshold = 0.7999}, 3, 1, Verdict::reaches_undecided},
             {{.threshold = 0.9}, 3, 0, Verdict::reaches_nothing},
             {{.threshold = 0.4}, 3, 3, Verdict::reaches},
             {{.threshold = 1.5, .per_doubling = true}, 3, 1, Verdict::reaches},
             {{.threshold = 1.2, .per_doubling = true}, 3, 3, Verdict::reaches},
             {{}, 3, 3, Verdict::no_threshold}}) {
        const Finding found = reach_of(table_of(times, false, repeats), {0, 1, 2, 3}, centre);
        EXPECT_EQ(found.row, row) << found.value;
        EXPECT_EQ(found.verdict, verdict) << found.value << " " << name_of(found.verdict);
    }
}

// Two ranks and more on equally many cores have no speedup per doubling.
TEST(Reach, OfAMissingValueIsNotKnown) {
    Frame table = table_of({{1, 8}, {2, 5}, {4, 4}}, false, 3);
    for (std::size_t row = 0; row < table.rows.size(); ++row)
        table.set(row, {.name = "speedup_per_doubling"}, {});
    const auto verdict = [&] {
        return reach_of(table, {0, 1, 2}, {.threshold = 1.5, .per_doubling = true}).verdict;
    };
    EXPECT_EQ(verdict(), Verdict::reaches_unknown);
    table.set(2, {.name = "speedup_per_doubling"}, 1.2);
    EXPECT_EQ(verdict(), Verdict::reaches_nothing);
    table.set(2, {.name = "speedup_per_doubling"}, {1.7, {1.6, 1.8}});
    EXPECT_EQ(verdict(), Verdict::reaches);
    table.rows[2].caveats.push_back({CaveatKind::load_differs});
    EXPECT_EQ(verdict(), Verdict::reaches_other_load);
}

TEST(Centres, ThatShipAreReadWithTheirPages) {
    const auto file = std::filesystem::path(RANKLAB_REFERENCE_FOLDER) / "../../configs/centres.ini";
    for (const auto& [name, threshold, per_doubling] :
         std::vector<std::tuple<const char*, double, bool>>{{"csc", 1.5, true},
                                                            {"nci", 0.75, false},
                                                            {"archer2", NAN, false},
                                                            {"nersc", NAN, false},
                                                            {"eurohpc", NAN, false}}) {
        const Centre centre = centre_of(file, name);
        EXPECT_THAT(centre.threshold, ::testing::NanSensitiveDoubleEq(threshold)) << name;
        EXPECT_EQ(centre.per_doubling, per_doubling) << name;
        EXPECT_THAT(centre.url, HasSubstr("://")) << name;
        EXPECT_FALSE(centre.says.empty()) << name;
    }
    EXPECT_THAT(thrown_sentence<base::OptionError>([&] { centre_of(file, "cern"); }),
                HasSubstr("csc, nci"));
}

TEST(Centres, ThatAreMalformedAreRefused) {
    const results::TempFolder folder;
    for (const std::string line : {"sideways = 0.7", "over-base = much", "per-doubling ="}) {
        results::write_bytes(folder / "c.ini", "[a]\ntitle = A\n" + line + "\n");
        EXPECT_THAT(thrown_sentence<base::OptionError>([&] { centre_of(folder / "c.ini", "a"); }),
                    HasSubstr("[a] has '" + line.substr(0, 9)));
    }
}

}  // namespace
}  // namespace ranklab::report::page
