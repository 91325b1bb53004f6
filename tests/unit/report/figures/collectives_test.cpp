#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/figures/figure.hpp"
#include "unit/report/comm_runs_sample.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::figures {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OfRuns : public testing::Test {
  protected:
    template <class Make>
    auto made(const std::vector<results::Run>& runs, Make make) {
        model::GroupedRuns grouped;
        for (auto run : runs) grouped.add(std::move(run));
        const auto load = [&](const std::string& id) {
            return *std::ranges::find(runs, id, &results::Run::id);
        };
        grouped.complete(load, 100);
        return make(Source{grouped, load, {}});
    }
    auto collectives(const std::vector<results::Run>& runs) {
        return made(runs, [](const Source& source) { return collective_figures(source, 3); });
    }
    auto network(const std::vector<results::Run>& runs) {
        return made(runs, [](const Source& source) { return network_figures(source); });
    }
    static std::vector<std::string> titles(const Chart& chart) {
        std::vector<std::string> all;
        for (const auto& series : chart.series) all.push_back(series.title);
        return all;
    }
};

TEST_F(OfRuns, CollectivesArePointsWithIntervalsAndFittedLines) {
    const auto all = collectives({comm_run({{}, {.op = "alltoall", .in_place = false, .factor = 0.5}})});
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].title, "allreduce on 2 ranks");
    ASSERT_EQ(all[0].figures.size(), 2U);
    const Chart& times = all[0].figures[0].chart;
    EXPECT_EQ(times.name, "collectives_time");
    EXPECT_THAT(titles(times), ElementsAre("allreduce", "fitted: latency + size / bandwidth", "alltoall",
                                           "fitted: latency + size / bandwidth"));
    EXPECT_EQ(times.series[0].look, Look::points);
    EXPECT_DOUBLE_EQ(times.series[0].points[0].y, 2.002);
    EXPECT_DOUBLE_EQ(times.series[0].points[0].interval.high, 1.05 * 2.002);
    EXPECT_EQ(plain_text(times.series[0].points[0].shown), "2.002 [1.902 .. 2.102]");
    EXPECT_EQ(times.series[1].look, Look::dashed) << "no line but a fit";
    EXPECT_NEAR(times.series[1].points.back().y, 2 + 4194304 / 4e3, 1e-6);
    const Chart& rates = all[0].figures[1].chart;
    EXPECT_NEAR(rates.series[2].points.back().y, 0.5 * rates.series[0].points.back().y, 1e-9);
    EXPECT_NEAR(rates.series[0].points.back().interval.high, rates.series[0].points.back().y / 0.95, 1e-9);
    EXPECT_NEAR(rates.series[3].points.back().y, rates.series[2].points.back().y, 1e-9);
}

TEST_F(OfRuns, CollectivesOfOneRankHaveNoBusBandwidth) {
    const auto all = collectives({comm_run({{.ranks = 1}})});
    ASSERT_EQ(all[0].figures.size(), 1U);
    EXPECT_EQ(all[0].figures[0].chart.title, "Time of a call, 1 rank");
}

TEST_F(OfRuns, ManyCollectivesStandInSeveralPictures) {
    std::vector<CommSample> samples;
    for (int i = 0; i < 17; ++i) samples.push_back({.op = "op" + std::to_string(i)});
    const auto all = collectives({comm_run(samples)});
    ASSERT_EQ(all[0].figures.size(), 6U);
    EXPECT_EQ(all[0].figures[4].chart.name, "collectives_time_3");
    EXPECT_THAT(plain_text(all[0].figures[0].caption), HasSubstr("2 more curves are not drawn"));
}

TEST_F(OfRuns, CollectivesTablesHaveAnIntervalInItsNumbersCell) {
    const auto all = collectives({comm_run()});
    ASSERT_EQ(all[0].tables.size(), 1U);
    const NumberTable& fits = all[0].tables[0];
    EXPECT_THAT(fits.heads, ElementsAre("op", "place", "points", "alpha [us]", "bandwidth [GB/s]", "half [B]",
                                        "worst [%]"));
    EXPECT_EQ(plain_text(fits.rows[0][3]), "2 [1.8 .. 2.2]");
}

TEST_F(OfRuns, AModelsBucketsAreACurve) {
    results::Run run = comm_run();
    std::erase_if(run.tables,
                  [](const auto& table) { return table.name == "messages" || table.name == "fits"; });
    run.tables.push_back(sample_buckets({2097152, 1048576}));
    const auto all = collectives({run});
    ASSERT_EQ(all[0].figures.size(), 2U);
    EXPECT_THAT(titles(all[0].figures[0].chart), testing::Contains("gradient buckets"));
}

class BesideTraining : public OfRuns {
  protected:
    results::Run training = step_run("train", 2, 0.1);

    BesideTraining() {
        training.config.push_back({"backend", "mpi"});
        training.tables = {sample_communication({{65536, 0.00005}, {8388608, 0.01}})};
        training.hosts = comm_run().hosts;
    }
};

TEST_F(BesideTraining, BucketsStandOnTheMeasuredCurve) {
    const auto figures = network({comm_run(), training});
    ASSERT_EQ(figures.size(), 1U);
    EXPECT_THAT(titles(figures[0].chart),
                ElementsAre("what the network gives", "between two sizes", "what the step pays"));
    EXPECT_EQ(figures[0].chart.series[2].points.size(), 2U);
    const auto& rows = figures[0].tables[0].rows;
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(plain_text(rows[0][2]), "0.02022");
    EXPECT_EQ(plain_text(rows[0][3]), "0.05");
    EXPECT_EQ(plain_text(rows[1][2]), "outside of what was measured");
    EXPECT_EQ(plain_text(rows[2][4]), "2.473 x");
    EXPECT_THAT(plain_text(figures[0].caption), HasSubstr("nothing is extrapolated"));
}

TEST_F(BesideTraining, TheNewestRunThatReachesAllBucketsIsTaken) {
    results::Run model = comm_run({{}}, "model");
    model.started_utc = "2026-11-23T10:15:00Z";
    model.config.push_back({"from-model", "mnist-cnn"});
    model.tables.push_back(sample_buckets({65536, 8388608}));
    const auto figures = network({model, comm_run(), training});
    EXPECT_THAT(plain_text(figures[0].caption), HasSubstr("run model."));
    EXPECT_EQ(figures[0].tables[0].rows.size(), 3U);
    EXPECT_EQ(plain_text(figures[0].tables[0].rows[1][2]), "2.097");
}

TEST_F(BesideTraining, WithoutARunOfCommThereIsNoPicture) {
    EXPECT_THAT(network({training}), IsEmpty());
}

}  // namespace
}  // namespace ranklab::report::figures
