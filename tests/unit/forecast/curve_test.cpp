#include "forecast/curve.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "stats/summary.hpp"

namespace ranklab::forecast {
namespace {

constexpr double kRanks[] = {1, 2, 4, 8, 16, 32};
constexpr double kTarget = 128;  // 4 x the largest

CurveForecast forecast_at(const std::vector<CurvePoint>& points, Scaling scaling, double ranks) {
    return forecast_curve(points, scaling, {ranks}).all.front();
}

// Times of a program that scales by a law, with three repeats at each rank count.
class Campaigns {
  public:
    struct Campaign {
        Scaling scaling = Scaling::strong;
        std::function<double(double)> truth;
        std::vector<CurvePoint> points;
    };

    // Amdahl, USL, latency and bandwidth of strong and of weak scaling, in turn.
    Campaign next(double noise) {
        const double s = uniform(0.001, 0.1), k = log_uniform(1e-6, 2e-3),
                     latency = log_uniform(1e-5, 1e-2), bytes = log_uniform(1e-3, 0.3);
        Campaign one;
        switch (turn_++ % 4) {
            case 0:
                one.truth = [=](double p) { return s + (1 - s) / p; };
                break;
            case 1:
                one.truth = [=](double p) { return (1 + s * (p - 1) + k * p * (p - 1)) / p; };
                break;
            case 2:
                one.truth = [=](double p) {
                    return 1 / p + 0.2 * latency * std::log2(p) + 0.2 * bytes * (1 - 1 / p);
                };
                break;
            default:
                one.scaling = Scaling::weak;
                one.truth = [=](double p) {
                    return 1 + latency * std::log2(p) + bytes * (1 - 1 / p);
                };
        }
        for (const double p : kRanks) {
            CurvePoint point{.ranks = p};
            for (int i = 0; i < 3; ++i)
                point.times_s.push_back(one.truth(p) * std::exp(noise * normal_(random_)));
            one.points.push_back(std::move(point));
        }
        return one;
    }
    double uniform(double low, double high) {
        return std::uniform_real_distribution<>(low, high)(random_);
    }

  private:
    double log_uniform(double low, double high) {
        return std::exp(uniform(std::log(low), std::log(high)));
    }

    std::mt19937 random_{20261128};
    std::normal_distribution<> normal_;
    int turn_ = 0;
};

TEST(Curve, IntervalsOfAThousandSimulatedCampaignsCoverTheTruthAtFourTimesTheLargestPoint) {
    Campaigns campaigns;
    int forecasts = 0, covered = 0, refused = 0;
    std::array<int, 4> of_law{}, covered_of_law{};
    std::vector<double> widths;  // at 3 %
    for (int i = 0; i < 1000; ++i) {
        const double noise = i % 12 < 4 ? 0.01 : i % 12 < 8 ? 0.03 : 0.1;
        const auto campaign = campaigns.next(noise);
        const auto found = forecast_at(campaign.points, campaign.scaling, kTarget);
        if (found.refusal != Refusal::none) {
            ++refused;
            continue;
        }
        const double truth = campaign.truth(kTarget);
        const int in =
            found.estimate.interval.low <= truth && truth <= found.estimate.interval.high ? 1 : 0;
        ++forecasts;
        covered += in;
        of_law.at(static_cast<std::size_t>(i) % 4) += 1;
        covered_of_law.at(static_cast<std::size_t>(i) % 4) += in;
        EXPECT_LT(found.estimate.interval.low, found.estimate.time_s);
        EXPECT_GT(found.estimate.interval.high, found.estimate.time_s);
        if (noise == 0.03)
            widths.push_back(found.estimate.interval.high / found.estimate.interval.low);
    }
    EXPECT_GE(covered, 0.90 * forecasts);
    EXPECT_LE(covered, 0.98 * forecasts);
    for (std::size_t law = 0; law < 4; ++law)
        EXPECT_GE(covered_of_law.at(law), 0.9 * of_law.at(law)) << law;
    EXPECT_LE(refused, 50);
    EXPECT_LE(stats::quantile(widths, 0.5), 1.35);
    RecordProperty("covered", std::to_string(covered) + " of " + std::to_string(forecasts));
    RecordProperty("median_width", std::to_string(stats::quantile(widths, 0.5)));
}

struct Fault {
    const char* name;
    std::function<void(std::vector<CurvePoint>&, double size)> make;
};

const Fault kFaults[] = {{"a level that was crossed, and no word of nodes",
                          [](auto& points, double size) {
                              for (auto& point : points)
                                  for (double& t : point.times_s)
                                      t *= point.ranks > 8 ? 1 + size : 1;
                          }},
                         {"all points on one node",
                          [](auto& points, double) {
                              for (auto& point : points) point.nodes = 1;
                          }},
                         {"one point alone on two nodes",
                          [](auto& points, double) {
                              for (auto& point : points) point.nodes = point.ranks > 16 ? 2 : 1;
                          }},
                         {"warm-up in the first process", [](auto& points, double size) {
                              for (auto& point : points) point.times_s.front() *= 1 + size;
                          }}};

TEST(Curve, ACrossedLevelAndMixedInWarmUpAreRefused) {
    for (const auto& fault : kFaults) {
        Campaigns campaigns;
        int refused = 0;
        for (int i = 0; i < 100; ++i) {
            auto campaign = campaigns.next(i % 2 == 0 ? 0.01 : 0.03);
            fault.make(campaign.points, campaigns.uniform(0.3, 1));
            const auto found = forecast_at(campaign.points, campaign.scaling, kTarget);
            refused += found.refusal != Refusal::none ? 1 : 0;
        }
        EXPECT_GE(refused, 95) << fault.name;
    }
}

TEST(Curve, PointsOnSeveralNodesTellTheLevel) {
    const auto time = [](double p) { return (1 / p + 0.02) * (p > 8 ? 1.5 : 1); };
    std::vector<CurvePoint> points;
    for (const double p : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0})
        points.push_back({.ranks = p,
                          .times_s = {0.99 * time(p), time(p), 1.01 * time(p)},
                          .nodes = p > 8 ? 2 : 1});
    const auto found = forecast_at(points, Scaling::strong, 256);
    EXPECT_EQ(found.refusal, Refusal::none);
    EXPECT_LT(found.estimate.interval.low, time(256));
    EXPECT_GT(found.estimate.interval.high, time(256));
}

// Four rank counts suffice, also if the level between nodes lies among them.
TEST(Curve, FourPointsOnOneNodeAndSeveralAreForecast) {
    const auto forecast = [](double level) {
        std::vector<CurvePoint> points;
        for (const auto& [p, nodes] : {std::pair{1.0, 1}, {2.0, 1}, {4.0, 2}, {8.0, 4}}) {
            const double time = (1 / p + 0.02) * (nodes > 1 ? level : 1);
            points.push_back(
                {.ranks = p, .times_s = {0.99 * time, time, 1.01 * time}, .nodes = nodes});
        }
        return forecast_at(points, Scaling::strong, 16);
    };
    for (const double level : {1.0, 1.2, 1.5, 2.0}) {
        const auto found = forecast(level);
        EXPECT_EQ(found.refusal, Refusal::none) << level;
        EXPECT_LT(found.estimate.interval.low, (1 / 16. + 0.02) * level) << level;
        EXPECT_GT(found.estimate.interval.high, (1 / 16. + 0.02) * level) << level;
    }
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
    EXPECT_EQ(forecast_at(few, Scaling::strong, 8).refusal, Refusal::too_few_points);

    auto wild = good;
    wild[2].times_s = {1.7 * amdahl(4), amdahl(4), 0.6 * amdahl(4)};
    wild[3].times_s = {amdahl(8), 1.8 * amdahl(8), amdahl(8)};
    EXPECT_EQ(forecast_at(wild, Scaling::strong, 32).refusal, Refusal::repeats_contradict);

    auto zigzag = good;
    for (std::size_t i = 1; i < zigzag.size(); i += 2) zigzag[i].times_s[0] *= 2;
    EXPECT_EQ(forecast_at(zigzag, Scaling::strong, 32).refusal, Refusal::misfit);
}

TEST(Curve, TheLargestPointIsForecastFromTheOthers) {
    std::vector<CurvePoint> points;
    for (const double p : {1.0, 2.0, 4.0, 8.0, 16.0}) points.push_back(exact(p, 0.05 + 0.95 / p));
    EXPECT_EQ(forecast_at(points, Scaling::strong, 32).refusal, Refusal::none);
    points.back().times_s[0] *= 3;
    EXPECT_EQ(forecast_at(points, Scaling::strong, 32).refusal, Refusal::misfit);
}

TEST(Curve, ModelsAreUsedWherePointsExceedTheirParametersByTwo) {
    constexpr std::size_t models[] = {0, 0, 0, 3, 5, 6};
    std::vector<CurvePoint> points;
    for (const double p : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0}) {
        points.push_back(exact(p, 0.05 + 0.95 / p));
        const auto weights = forecast_curve(points, Scaling::strong, {}).weights;
        EXPECT_EQ(weights.size(), models[points.size() - 1]);
        double sum = 0;
        for (const auto& [name, weight] : weights) sum += weight;
        EXPECT_NEAR(sum, weights.empty() ? 0 : 1, 1e-9);
    }
}

TEST(Curve, TheNextPointNarrowsTheFarthestForecast) {
    std::vector<CurvePoint> points;
    for (const double p : {1.0, 2.0, 4.0, 8.0}) points.push_back(exact(p, 0.05 + 0.95 / p));
    const auto found = forecast_curve(points, Scaling::strong, {16, 32});
    ASSERT_TRUE(found.next);
    EXPECT_LT(found.next->ranks, 32);
    EXPECT_GE(found.next->narrowing, 0.1);
    points.push_back(exact(found.next->ranks, 0.05 + 0.95 / found.next->ranks));
    const auto width = [](const CurveForecast& one) {
        return one.estimate.interval.high / one.estimate.interval.low;
    };
    EXPECT_LT(width(forecast_at(points, Scaling::strong, 32)), width(found.all.back()));
}

TEST(Curve, AFewMorePointsMendARefusal) {
    const auto ranks_to_measure = [](std::vector<CurvePoint> points, double ranks) {
        return forecast_curve(std::move(points), Scaling::strong, {ranks}, 8)
            .all[0]
            .ranks_to_measure;
    };
    using Ranks = std::vector<double>;
    EXPECT_EQ(ranks_to_measure({exact(1, 1)}, 4), (Ranks{2, 4, 8}));
    std::vector<CurvePoint> points;
    for (const double p : {1.0, 2.0, 4.0}) points.push_back(exact(p, 0.05 + 0.95 / p));
    EXPECT_EQ(ranks_to_measure(points, 16), (Ranks{8}));
    points.push_back(exact(6, 0.05 + 0.95 / 6));
    EXPECT_EQ(ranks_to_measure(points, 25), (Ranks{7}));
    for (auto& point : points) point.nodes = 1;
    EXPECT_EQ(ranks_to_measure(points, 16), (Ranks{16, 32}));
}

TEST(Curve, AStatedIntervalIsNoise) {
    std::vector<CurvePoint> sure, unsure;
    for (const double p : {1.0, 2.0, 4.0, 8.0, 16.0}) {
        sure.push_back(exact(p, 0.05 + 0.95 / p));
        unsure.push_back(sure.back());
        sure.back().deviation = 0.005;
        unsure.back().deviation = 0.05;
    }
    const auto width = [](const std::vector<CurvePoint>& points) {
        const auto interval = forecast_at(points, Scaling::strong, 32).estimate.interval;
        return interval.high / interval.low;
    };
    EXPECT_LT(width(sure), width(unsure));
}

}  // namespace
}  // namespace ranklab::forecast
