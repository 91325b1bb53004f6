#include "forecast/curve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "stats/summary.hpp"

namespace ranklab::forecast {
namespace {

// Priors without any published curve.
Prior prior_of(Scaling scaling) {
    static const Sources none({});
    return none.prior(scaling, Work::unknown);
}

CurveForecast forecast_at(const std::vector<CurvePoint>& points, Scaling scaling, double ranks,
                          double per_node = 0) {
    const ScalingCurve curve{.scaling = scaling, .points = points, .per_node = per_node};
    return forecast_curve(curve, prior_of(scaling), {ranks}).front();
}

double width(const stats::Interval& interval) {
    return interval.high / interval.low;
}

std::vector<CurvePoint> amdahl_points(std::vector<double> ranks, double step = 1,
                                      double step_above = INFINITY) {
    std::vector<CurvePoint> points;
    for (const double p : ranks) {
        const double time = (1 / p + 0.01) * (p > step_above ? step : 1);
        points.push_back({.ranks = p, .times_s = {0.99 * time, time, 1.01 * time}});
    }
    return points;
}

// A step of 1.12 from 8 ranks on: 32 ranks take 0.0462.
TEST(Curve, AStepBetweenThePointsIsNoRisingCurve) {
    const auto points = amdahl_points({1, 2, 4, 8}, 1.12, 4);
    const auto [low, high] = forecast_at(points, Scaling::strong, 32).estimate.interval;
    EXPECT_LT(low, 0.0462);
    EXPECT_GT(high, 0.0462);
}

TEST(Curve, NodesAreToldOrUnknown) {
    const auto points = amdahl_points({1, 2, 4, 8});
    const auto unknown = forecast_at(points, Scaling::strong, 32),
               inside = forecast_at(points, Scaling::strong, 32, 64),
               across = forecast_at(points, Scaling::strong, 32, 8);
    EXPECT_EQ(unknown.nodes, 0);
    EXPECT_EQ(inside.nodes, 1);
    EXPECT_EQ(across.nodes, 4);
    EXPECT_LT(width(inside.estimate.interval), width(unknown.estimate.interval));
    // The largest point may have filled the first node: a step of 1.4 after it is no surprise.
    EXPECT_GT(unknown.estimate.interval.high, 1.4 * (1 / 32. + 0.01));
    EXPECT_LT(inside.estimate.time_s, across.estimate.time_s);
    const auto first = forecast_at(points, Scaling::strong, 16, 8);
    EXPECT_EQ(first.widest, Doubt::crossing);
    EXPECT_GT(first.share, 0.4);
    EXPECT_NE(inside.widest, Doubt::crossing);
    // The points' nodes say the same.
    auto told = amdahl_points({1, 2, 4, 8, 16}, 1.5, 8);
    for (auto& point : told) point.nodes = point.ranks > 8 ? 2 : 1;
    EXPECT_EQ(forecast_at(told, Scaling::strong, 64).nodes, 8);
}

// One point beyond the node narrows the forecast, least if the step there may as well be a curve.
TEST(Curve, OnePointBeyondTheNodeNarrowsTheCrossing) {
    for (const double step : {1.02, 1.2, 1.5}) {
        const auto before = forecast_at(amdahl_points({1, 2, 4, 8}), Scaling::strong, 32, 8),
                   after = forecast_at(amdahl_points({1, 2, 4, 8, 16}, step, 8), Scaling::strong,
                                       32, 8);
        EXPECT_LT(width(after.estimate.interval),
                  (step < 1.5 ? 0.8 : 0.95) * width(before.estimate.interval))
            << step;
        EXPECT_LT(after.estimate.interval.low, (1 / 32. + 0.01) * step) << step;
        EXPECT_GT(after.estimate.interval.high, (1 / 32. + 0.01) * step) << step;
    }
}

// The crossings and the discrepancies of a prior are those of its sources.
TEST(Curve, PriorsAreLearnedFromTheOtherSources) {
    std::vector<ScalingCurve> curves;
    for (const auto& [source, step] : std::map<std::string, double>{{"a", 1.02}, {"b", 1.6}})
        for (int i = 0; i < 3; ++i)
            curves.push_back({Scaling::strong, Work::training,
                              amdahl_points({1, 2, 4, 8, 16, 32}, step, 8), 8, source});
    const Sources sources(curves);
    const auto crossing = [&](const char* without) {
        return sources.prior(Scaling::strong, Work::training, without).crossing_factor().ratio;
    };
    EXPECT_LT(crossing("b"), crossing(""));
    EXPECT_GT(crossing("a"), crossing(""));
    EXPECT_EQ(sources.prior(Scaling::strong, Work::training).sources, 2U);
    EXPECT_EQ(sources.prior(Scaling::strong, Work::training, "a").sources, 1U);
    EXPECT_EQ(sources.prior(Scaling::weak, Work::storage).sources, 0U);
    const auto [factor, interval] = sources.prior(Scaling::strong, Work::unknown).crossing_factor();
    EXPECT_LT(interval.low, factor);
    EXPECT_LT(factor, interval.high);
}

CurvePoint exact(double ranks, double time) {
    return {.ranks = ranks, .times_s = {time}};
}

TEST(Curve, RefusesWithAReason) {
    const auto amdahl = [](double p) { return 0.05 + 0.95 / p; };
    std::vector<CurvePoint> good;
    for (const double p : {1.0, 2.0, 4.0, 8.0, 16.0}) good.push_back(exact(p, amdahl(p)));
    EXPECT_EQ(forecast_at(good, Scaling::strong, 64).refusal, Refusal::none);
    EXPECT_EQ(forecast_at(good, Scaling::strong, 65).refusal, Refusal::beyond_reach);

    auto few = good;
    few.resize(3);
    EXPECT_EQ(forecast_at(few, Scaling::strong, 8).refusal, Refusal::none);
    few.resize(2);
    EXPECT_EQ(forecast_at(few, Scaling::strong, 8).refusal, Refusal::too_few_points);
    EXPECT_EQ(forecast_at(good, Scaling::strong, 0.5).refusal, Refusal::beyond_reach);

    auto warm = good;
    for (auto& point : warm) {
        const double time = point.times_s[0];
        point.times_s = {1.5 * time, time, 1.01 * time};
    }
    EXPECT_EQ(forecast_at(warm, Scaling::strong, 32).refusal, Refusal::warm_up_inside);

    auto wild = good;
    wild[2].times_s = {1.7 * amdahl(4), amdahl(4), 0.6 * amdahl(4)};
    wild[3].times_s = {amdahl(8), 1.8 * amdahl(8), amdahl(8)};
    EXPECT_EQ(forecast_at(wild, Scaling::strong, 32).refusal, Refusal::repeats_contradict);

    auto zigzag = good;
    for (std::size_t i = 1; i < zigzag.size(); i += 2) zigzag[i].times_s[0] *= 2;
    EXPECT_EQ(forecast_at(zigzag, Scaling::strong, 32).refusal, Refusal::misfit);
}

TEST(Curve, TheLargestPointIsForecastFromTheOthers) {
    auto points = amdahl_points({1, 2, 4, 8});
    EXPECT_EQ(forecast_at(points, Scaling::strong, 32, 64).refusal, Refusal::none);
    for (double& time : points.back().times_s) time *= 3;
    EXPECT_EQ(forecast_at(points, Scaling::strong, 32, 64).refusal, Refusal::held_out_missed);
}

TEST(Curve, TheNextPointNarrowsTheFarthestForecast) {
    const ScalingCurve curve{.points = amdahl_points({1, 2, 4, 8}), .per_node = 8};
    const auto farthest = forecast_at(curve.points, Scaling::strong, 32, curve.per_node);
    const auto next = next_point(curve, prior_of(Scaling::strong), farthest);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->ranks, 16);  // the first on two nodes
    EXPECT_LT(width(next->after), 0.9 * width(farthest.estimate.interval));
    // The interval that was expected is about the one that follows.
    const auto after = forecast_at(amdahl_points({1, 2, 4, 8, 16}, 1.1, 8), Scaling::strong, 32, 8);
    EXPECT_NEAR(std::log(width(after.estimate.interval)) / std::log(width(next->after)), 1, 0.5);
}

TEST(Curve, AFewMorePointsEndARefusal) {
    const auto ranks_to_measure = [](const std::vector<double>& ranks, double target) {
        return forecast_at(amdahl_points(ranks), Scaling::strong, target).ranks_to_measure;
    };
    using Ranks = std::vector<double>;
    EXPECT_EQ(ranks_to_measure({1}, 4), (Ranks{2, 4}));
    EXPECT_EQ(ranks_to_measure({1, 2}, 4), (Ranks{4}));
    EXPECT_EQ(ranks_to_measure({1, 2, 6}, 25), (Ranks{7}));
    EXPECT_EQ(ranks_to_measure({4, 8, 16}, 2), (Ranks{2}));
}

TEST(Curve, TheUnitDoesNotMatter) {
    auto points = amdahl_points({1, 3, 4, 10});
    const auto before = forecast_at(points, Scaling::strong, 20).estimate;
    for (auto& point : points)
        for (double& time : point.times_s) time *= 3.6e6;
    const auto after = forecast_at(points, Scaling::strong, 20).estimate;
    EXPECT_NEAR(after.time_s / before.time_s, 3.6e6, 1e-3);
    EXPECT_NEAR(after.interval.low / before.interval.low, 3.6e6, 1e-3);
    EXPECT_NEAR(after.interval.high / before.interval.high, 3.6e6, 1e-3);
}

TEST(Curve, ManyPointsTakeNoLongerThanAFew) {
    std::vector<double> ranks;
    for (int p = 1; p <= 500; ++p) ranks.push_back(p);
    const auto found = forecast_at(amdahl_points(ranks), Scaling::strong, 1000);
    EXPECT_EQ(found.refusal, Refusal::none);
    EXPECT_LT(found.estimate.interval.low, 0.011);
    EXPECT_GT(found.estimate.interval.high, 0.011);
}

TEST(Curve, AStatedIntervalIsNoise) {
    std::vector<CurvePoint> sure, unsure;
    for (const double p : {1.0, 2.0, 4.0, 8.0, 16.0}) {
        sure.push_back(exact(p, 0.05 + 0.95 / p));
        unsure.push_back(sure.back());
        sure.back().deviation = 0.005;
        unsure.back().deviation = 0.05;
    }
    EXPECT_LT(width(forecast_at(sure, Scaling::strong, 32).estimate.interval),
              width(forecast_at(unsure, Scaling::strong, 32).estimate.interval));
}

}  // namespace
}  // namespace ranklab::forecast
