#include "report/model/proposal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "thrown_sentence.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::model {
namespace {

using results::StoredRun;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using tests::thrown_sentence;

// One thread a rank on CPUs of their own, four ranks a node.
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

std::vector<ScaledPoint> points(const std::vector<Measured>& measured, bool weak, int repeats = 1) {
    std::vector<StoredRun> runs;
    for (const auto& [ranks, step_s] : measured)
        for (int i = 0; i < repeats; ++i)
            runs.push_back(
                run_of(fmt::format("{}-{}", ranks, i), ranks, step_s * (1 + 0.002 * i), weak));
    const StoredRuns stored(runs);
    const Groups groups(runs_frame(stored.chosen(), {}));
    for (const auto& curve : curves_over_ranks(groups, stored.file()))
        if (curve.weak == weak) return curve.points;
    return {};
}

struct Expected {
    double speedup, efficiency, per_doubling;
};

// By hand: strong T 8, 5, 2 on 1, 2, 8 ranks; weak with the same times.
TEST(Points, HaveTheEfficiencyOverTheBaseAndTheSpeedupPerDoubling) {
    const std::vector<Measured> times{{1, 8}, {2, 5}, {8, 2}};
    for (const auto& [weak, expected] : std::vector<std::pair<bool, std::vector<Expected>>>{
             {false, {{1, 1, NAN}, {1.6, 0.8, 1.6}, {4, 0.5, std::sqrt(2.5)}}},
             {true, {{1, 1, NAN}, {3.2, 1.6, 3.2}, {32, 4, std::sqrt(10)}}}}) {
        const auto found = points(times, weak);
        ASSERT_THAT(found, SizeIs(3));
        for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_NEAR(found[i].speedup.ratio, expected[i].speedup, 1e-9) << weak << i;
            EXPECT_NEAR(found[i].efficiency.ratio, expected[i].efficiency, 1e-9) << weak << i;
            EXPECT_EQ(std::isnan(found[i].per_doubling.ratio), i == 0);
            EXPECT_TRUE(i == 0 ||
                        std::abs(found[i].per_doubling.ratio - expected[i].per_doubling) < 1e-9)
                << weak << i;
        }
        EXPECT_EQ(found[2].nodes, 2U);
        EXPECT_TRUE(std::isnan(found[2].per_doubling.ci.low)) << "single runs have no interval";
    }
}

TEST(Points, OfRepeatsHaveIntervalsThatFollowTheirFormula) {
    const auto found = points({{1, 8}, {4, 3}}, false, 3);
    const auto& [ratio, ci] = found[1].per_doubling;
    EXPECT_LT(ci.low, ratio);
    EXPECT_NEAR(ci.low, std::sqrt(found[1].speedup.ci.low), 1e-9);
    EXPECT_NEAR(ci.high, std::sqrt(found[1].speedup.ci.high), 1e-9);
}

Centre asking(Asks asks, double threshold) {
    Centre centre;
    centre.asks = asks, centre.threshold = threshold;
    return centre;
}

TEST(Reach, EndsBeforeTheFirstPointBelowTheThreshold) {
    // Over the base 0.8, 0.5, 0.48; per doubling 1.6, 1.25, 1.92.
    const std::vector<Measured> times{{1, 8}, {2, 5}, {4, 4}, {8, 8 / 3.84}};
    for (const auto& [centre, repeats, point, verdict] :
         std::vector<std::tuple<Centre, int, std::size_t, Verdict>>{
             {asking(Asks::efficiency_over_base, 0.75), 3, 1, Verdict::reaches},
             {asking(Asks::efficiency_over_base, 0.75), 1, 1, Verdict::reaches_single_runs},
             {asking(Asks::efficiency_over_base, 0.7999), 3, 1, Verdict::reaches_undecided},
             {asking(Asks::efficiency_over_base, 0.9), 3, 0, Verdict::reaches_nothing},
             {asking(Asks::efficiency_over_base, 0.4), 3, 3, Verdict::reaches},
             {asking(Asks::speedup_per_doubling, 1.5), 3, 1, Verdict::reaches},
             {asking(Asks::speedup_per_doubling, 1.2), 3, 3, Verdict::reaches},
             {Centre(), 3, 3, Verdict::no_threshold}}) {
        const Reach reach = reach_of(points(times, false, repeats), centre);
        EXPECT_EQ(reach.point, point) << centre.threshold;
        EXPECT_EQ(reach.verdict, verdict) << centre.threshold << " " << name_of(reach.verdict);
    }
}

TEST(Centres, ThatShipAreReadWithTheirPages) {
    const std::filesystem::path file =
        std::filesystem::path(RANKLAB_REFERENCE_FOLDER) / "../../configs/centres.ini";
    for (const auto& [name, asks, threshold, counts] :
         std::vector<std::tuple<const char*, Asks, double, std::size_t>>{
             {"csc", Asks::speedup_per_doubling, 1.5, 3},
             {"nci", Asks::efficiency_over_base, 0.75, 0},
             {"archer2", Asks::nothing, NAN, 0},
             {"nersc", Asks::nothing, NAN, 0},
             {"eurohpc", Asks::nothing, NAN, 0}}) {
        const Centre centre = centre_of(file, name);
        EXPECT_EQ(centre.asks, asks) << name;
        EXPECT_EQ(std::isnan(centre.threshold), std::isnan(threshold)) << name;
        EXPECT_EQ(centre.node_counts, counts) << name;
        EXPECT_THAT(centre.url, HasSubstr("://")) << name;
        EXPECT_FALSE(centre.says.empty()) << name;
    }
    EXPECT_THAT(thrown_sentence<base::OptionError>([&] { centre_of(file, "cern"); }),
                HasSubstr("csc, nci"));
}

TEST(Centres, ThatAreMalformedAreRefused) {
    const results::TempFolder folder;
    for (const auto& [lines, named] : std::vector<std::pair<std::string, std::string>>{
             {"figure = sideways\nthreshold = 0.7\n", "[a] needs a figure"},
             {"figure = over-base\nthreshold = much\n", "[a] needs a figure"},
             {"threshold = 0.7\n", "[a] needs a figure"},
             {"figure = over-base\n", "[a] needs a figure"}}) {
        results::write_bytes(folder / "c.ini", "[a]\ntitle = A\n" + lines);
        EXPECT_THAT(thrown_sentence<base::OptionError>([&] { centre_of(folder / "c.ini", "a"); }),
                    HasSubstr(named));
    }
}

PublishedCurve published(double efficiency, CurveCaution caution = CurveCaution::none) {
    PublishedCurve curve;
    curve.weak = true, curve.caution = caution;
    curve.x = {1, 2, 8}, curve.y = {1, 2 * efficiency, 8 * efficiency};
    curve.first_beyond_one_node = 8;
    return curve;
}

TEST(Placement, IsAmongCurvesOfTheSameKindFactorAndLevel) {
    std::vector<PublishedCurve> all;
    for (const double efficiency : {0.5, 0.6, 0.7, 0.8, 0.9}) all.push_back(published(efficiency));
    all.push_back(published(1.9, CurveCaution::no_communication));
    all.push_back(published(1.9, CurveCaution::contradicts));
    all.push_back(published(1.9));
    all.back().weak = false;
    all.push_back(published(1.9));
    all.back().first_beyond_one_node = 2;  // its second point is on another level, its third is not
    const ScaledCurve own{"mine", true, points({{1, 1}, {2, 1 / 0.75}, {8, 1 / 0.3}}, true)};
    const Frame frame = placed_among(all, {own});
    ASSERT_THAT(frame.rows, SizeIs(2));
    EXPECT_EQ(frame.at(0, "published_curves").number, 5);
    EXPECT_EQ(frame.at(0, "better_than").number, 3);
    EXPECT_NEAR(frame.at(0, "published_median").number, 0.7, 1e-12);
    EXPECT_EQ(frame.at(0, "place").text, "usual");
    EXPECT_EQ(frame.at(1, "published_curves").number, 6);
    EXPECT_EQ(frame.at(1, "better_than").number, 0);
    EXPECT_EQ(frame.at(1, "place").text, "below most");
    const Frame few = placed_among({published(0.9)}, {own});
    EXPECT_EQ(few.at(0, "published_curves").number, 1);
    EXPECT_TRUE(few.at(0, "published_median").empty());
    EXPECT_EQ(few.at(0, "place").text, "too few published");
}

}  // namespace
}  // namespace ranklab::report::model
