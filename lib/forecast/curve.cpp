#include "forecast/curve.hpp"

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "forecast/posterior.hpp"
#include "stats/distributions.hpp"

namespace ranklab::forecast {
namespace {

// Largest relative standard deviation of the times at one rank count, and of points about a curve.
constexpr double kMostDeviation = 0.15;
constexpr double kMostSpread = 4;  // largest spread of times at one rank count, in median spreads
const double kSureJump = std::log(8);  // log likelihood ratio from which a jump is reported
constexpr double kLeastMisfit = 0.02;  // a smaller relative misfit is accepted even if significant
constexpr double kUnlikely = 0.999;    // confidence of the tests that refuse a forecast
constexpr double kHeldOutConfidence = 0.99;
constexpr std::size_t kFewestPoints = 4;
constexpr double kRepeats = 3;       // launches to measure at a further point
constexpr double kWorthIt = 0.1;     // least useful narrowing, as a fraction of the interval
constexpr double kSlowFirst = 0.03;  // first runs slower by this fraction are warm-up

struct Pooled {
    double variance = 0, freedom = 0;
};

// Pools the variance of the logarithms over the points, without the first `skipped` times of each.
Pooled pooled(const std::vector<CurvePoint>& points, std::size_t skipped) {
    Pooled all;
    for (const auto& point : points) {
        if (point.times_s.size() < skipped + 2) continue;
        const auto times = std::span(point.times_s).subspan(skipped);
        all.variance += squares_of_logs(times);
        all.freedom += base::real(times.size() - 1);
    }
    if (all.freedom > 0) all.variance /= all.freedom;
    return all;
}

// Whether the first launches are slower than the later ones by more than the later ones scatter.
bool has_warm_up(const std::vector<CurvePoint>& points) {
    const Pooled others = pooled(points, 1);
    double sum = 0, variance = 0, count = 0;
    for (const auto& point : points) {
        const auto rest = std::span(point.times_s).subspan(1);
        if (rest.size() < 2) continue;
        sum += std::log(point.times_s.front()) - mean_of_logs(rest);
        variance += others.variance * (1 + 1 / base::real(rest.size()));
        count += 1;
    }
    if (others.freedom < 2 || sum < kSlowFirst * count) return false;
    return sum > stats::student_quantile(kUnlikely, others.freedom) * std::sqrt(variance);
}

// True if repeats scatter too much, on average over all rank counts or at one of them.
bool contradict(const std::vector<CurvePoint>& points) {
    std::vector<double> spreads;
    for (const auto& point : points)
        if (point.times_s.size() > 1) {
            const auto [least, most] = std::ranges::minmax(point.times_s);
            spreads.push_back(std::log(most / least));
        }
    if (spreads.size() < 2) return false;
    const double most = std::ranges::max(spreads);
    return std::sqrt(pooled(points, 0).variance) > kMostDeviation ||
           (most > kMostDeviation && most > kMostSpread * stats::quantile(spreads, 0.5));
}

// The lowest rank count on several nodes; 0 unless at least two points are on one node and at least
// two on several.
double level_of(std::span<const CurvePoint> points) {
    const auto beyond = [](const CurvePoint& one) { return one.nodes > 1; };
    const auto first = std::ranges::find_if(points, beyond);
    return first - points.begin() >= 2 && points.end() - first >= 2 ? first->ranks : 0;
}

// Whether the points lie farther from the best curve than the times of one point scatter.
bool misfits(const Posterior& posterior, const std::vector<CurvePoint>& points) {
    if (posterior.misfit() > kMostDeviation * kMostDeviation) return true;
    const Pooled within = pooled(points, 0);
    if (within.freedom < 3 || posterior.misfit() < kLeastMisfit * kLeastMisfit) return false;
    const double free = std::max(1.0, static_cast<double>(points.size()) - 3);
    return posterior.misfit() * free >
           within.variance * stats::chi_square_quantile(kUnlikely, free) * within.freedom /
               stats::chi_square_quantile(0.05, within.freedom);
}

// The rank count after an unexplained jump, or 0. Not searched with points on one node
// and on several: every curve then has a term for the jump between them.
double jump_in(const std::vector<CurvePoint>& points, Scaling scaling, double evidence) {
    if (level_of(points) > 0) return 0;
    double likeliest = evidence + kSureJump, jump = 0;
    for (std::size_t i = 2; i + 2 <= points.size(); ++i) {
        const Posterior with(points, scaling, points[i].ranks);
        if (!(with.evidence() > likeliest)) continue;
        likeliest = with.evidence();
        jump = points[i].ranks;
    }
    return jump;
}

// Whether the largest point lies outside the forecast from the others. False if the others cannot
// forecast it: too few, or without the network level between nodes.
bool misses_largest(std::span<const CurvePoint> points, Scaling scaling) {
    const auto rest = points.first(points.size() - 1);
    if (level_of(points) > 0 && level_of(rest) == 0) return false;
    const Posterior others(rest, scaling, level_of(rest));
    if (others.empty()) return false;
    const auto [low, high] = others.at(points.back().ranks, kHeldOutConfidence).interval;
    return points.back().middle() < low || points.back().middle() > high;
}

bool leaves_the_node(const std::vector<CurvePoint>& points, double node_holds, double ranks) {
    const auto beyond = std::ranges::count_if(points, [](auto& one) { return one.nodes > 1; });
    const auto inside = std::ranges::count_if(points, [](auto& one) { return one.nodes == 1; });
    if (beyond >= 2 || inside == 0) return false;
    return beyond == 1 || ranks > std::max(node_holds, points.back().ranks);
}

// Rank counts to measure so that the forecast is not refused again.
std::vector<double> ranks_to_measure(const CurveForecast& refused,
                                     const std::vector<CurvePoint>& points, double node_holds,
                                     double jump) {
    const double largest = points.back().ranks;
    const auto above = [](double ranks, std::size_t count = 2) {
        std::vector<double> doubled;
        while (doubled.size() < count) doubled.push_back(ranks *= 2);
        return doubled;
    };
    switch (refused.refusal) {
        case Refusal::beyond_reach:
            return {std::ceil(refused.ranks / kReach)};
        case Refusal::too_few_points:
            return above(largest, std::max(kFewestPoints, points.size() + 1) - points.size());
        case Refusal::held_out_missed:
            return above(largest);
        case Refusal::one_node:
            return above(std::max(node_holds, largest));
        case Refusal::jump:
            return above(jump);
        default:
            std::vector<double> again;
            for (const auto& point : points) again.push_back(point.ranks);
            return again;
    }
}

// The measurement that narrows the interval most per node-hour; nullopt if none narrows it enough.
std::optional<NextPoint> next_point(const Posterior& posterior,
                                    const std::vector<CurvePoint>& points, double target) {
    // Candidates: the measured rank counts again, and doublings of the largest.
    std::vector<NextPoint> all;
    for (const auto& point : points) all.push_back({point.ranks, target});
    const double largest = points.back().ranks;
    for (double ranks = 2 * largest; ranks <= kReach * largest; ranks *= 2)
        all.push_back({ranks, target});
    double enough = kWorthIt;  // least narrowing that counts; raised to half of the best
    for (auto& one : all) {
        one.narrowing = posterior.narrowing(one.ranks, kRepeats, target);
        enough = std::max(enough, one.narrowing / 2);
    }
    std::erase_if(
        all, [&](const NextPoint& one) { return one.ranks >= target || one.narrowing < enough; });
    if (all.empty()) return std::nullopt;
    return *std::ranges::max_element(all, {}, [&](const NextPoint& one) {
        return one.narrowing / (one.ranks * posterior.median(one.ranks));
    });
}

}  // namespace

CurveForecasts forecast_curve(std::vector<CurvePoint> points, Scaling scaling,
                              const std::vector<double>& ranks, double node_holds, bool force) {
    std::ranges::sort(points, {}, &CurvePoint::ranks);
    const Posterior posterior(points, scaling, level_of(points));
    CurveForecasts found{.weights = posterior.weights()};
    Refusal refusal = Refusal::too_few_points;
    double jump = 0, farthest = 0;
    if (!posterior.empty()) {
        jump = jump_in(points, scaling, posterior.evidence());
        refusal = has_warm_up(points)               ? Refusal::warm_up_inside
                  : contradict(points)              ? Refusal::repeats_contradict
                  : jump > 0                        ? Refusal::jump
                  : misfits(posterior, points)      ? Refusal::misfit
                  : misses_largest(points, scaling) ? Refusal::held_out_missed
                                                    : Refusal::none;
    }
    for (const double one : ranks) {
        auto& forecast = found.all.emplace_back(CurveForecast{one, refusal});
        if (refusal == Refusal::none && leaves_the_node(points, node_holds, one))
            forecast.refusal = Refusal::one_node;
        else if (refusal == Refusal::none && !force && one > kReach * points.back().ranks)
            forecast.refusal = Refusal::beyond_reach;
        if (forecast.refusal != Refusal::none) {
            forecast.ranks_to_measure = ranks_to_measure(forecast, points, node_holds, jump);
            continue;
        }
        forecast.estimate = posterior.at(one, stats::kConfidence);
        farthest = std::max(farthest, one);
    }
    if (farthest > 0) found.next = next_point(posterior, points, farthest);
    return found;
}

}  // namespace ranklab::forecast
