#include "forecast/curve.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/numbers.hpp"
#include "forecast/posterior.hpp"
#include "stats/repeats.hpp"

namespace ranklab::forecast {
namespace {

constexpr double kMisfit = 0.15;        // largest standard deviation of points about a curve
constexpr double kHeldOutTail = 0.015;  // probability of a larger miss, to each side
constexpr std::size_t kFewestPoints = 3, kFewestHeldOut = 4, kMostPoints = 16;
constexpr double kWorthIt = 0.1;  // least useful narrowing, as a fraction of the interval

Mixture forecast_at(const ScalingCurve& curve, const Prior& prior, double ranks) {
    return fit(curve, prior, {&ranks, 1}).at.front();
}

// Whether the largest point lies outside the forecast from the others.
bool misses_largest(ScalingCurve curve, const Prior& prior) {
    if (curve.points.size() < kFewestHeldOut) return false;
    const CurvePoint largest = curve.points.back();
    curve.points.pop_back();
    const Mixture at = forecast_at(curve, prior, largest.ranks);
    const double time = largest.middle();
    return time < at.quantile(kHeldOutTail) || time > at.quantile(1 - kHeldOutTail);
}

// Why no time is forecast from these points, or Refusal::none.
Refusal refusal_of(const ScalingCurve& curve, const Prior& prior, const Posterior& posterior) {
    std::vector<stats::Repeats> repeats;
    for (const auto& point : curve.points) repeats.push_back(point.times_s);
    return stats::first_are_larger(repeats)       ? Refusal::warm_up_inside
           : stats::contradict(repeats)           ? Refusal::repeats_contradict
           : misses_largest(curve, prior)         ? Refusal::held_out_missed
           : posterior.misfit > kMisfit * kMisfit ? Refusal::misfit
                                                  : Refusal::none;
}

// Rank counts to measure so that the forecast is not refused again.
std::vector<double> ranks_to_measure(const CurveForecast& refused,
                                     const std::vector<CurvePoint>& points) {
    const double largest = points.back().ranks;
    if (refused.refusal == Refusal::beyond_reach)
        return {refused.ranks < largest ? refused.ranks : std::ceil(refused.ranks / kReach)};
    if (points.size() == kFewestPoints - 1) return {2 * largest};
    if (refused.refusal == Refusal::too_few_points || refused.refusal == Refusal::held_out_missed)
        return {2 * largest, 4 * largest};
    std::vector<double> ranks;
    for (const auto& point : points) ranks.push_back(point.ranks);
    return ranks;
}

// The curve with three further launches at `ranks`.
ScalingCurve with_launches(ScalingCurve curve, double ranks, double time_s) {
    auto& points = curve.points;
    const auto place = std::ranges::lower_bound(points, ranks, {}, &CurvePoint::ranks);
    const bool is_new = place == points.end() || place->ranks != ranks;
    auto& times = (is_new ? *points.insert(place, CurvePoint{ranks}) : *place).times_s;
    times.insert(times.end(), 3, time_s);
    return curve;
}

// The measurement that narrows the interval most per rank-hour; nullopt if none narrows it enough.
std::optional<NextPoint> next_point(const ScalingCurve& curve, const Prior& prior,
                                    const CurveForecast& farthest) {
    // Candidates: the first and the last two rank counts again, and doublings of the largest.
    const auto& points = curve.points;
    const double largest = points.back().ranks;
    std::set<double> set{points.front().ranks, points.rbegin()[1].ranks};
    for (double one = largest; one < farthest.ranks && one <= kReach * largest; one *= 2)
        set.insert(one);
    const std::vector<double> ranks(set.begin(), set.end());
    const auto posterior = fit(curve, prior, ranks);
    const auto width = [](const stats::Interval& of) { return std::log(of.high / of.low); };
    std::optional<NextPoint> next;
    double most = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const double time = posterior.at[i].quantile(0.5);
        const auto after =
            forecast_at(with_launches(curve, ranks[i], time), prior, farthest.ranks).estimate();
        const double narrowing = 1 - width(after.interval) / width(farthest.estimate.interval),
                     worth = narrowing * narrowing / (ranks[i] * time);
        if (narrowing < kWorthIt || worth <= most) continue;
        next = {ranks[i], farthest.ranks, after.interval};
        most = worth;
    }
    return next;
}

// At most kMostPoints points, the first and the last among them.
void thin(std::vector<CurvePoint>& points) {
    std::ranges::sort(points, {}, &CurvePoint::ranks);
    const std::size_t n = points.size();
    for (std::size_t i = 0; n > kMostPoints && i < kMostPoints; ++i)
        points[i] = points[i * (n - 1) / (kMostPoints - 1)];
    points.resize(std::min(n, kMostPoints));
}

}  // namespace

CurveForecasts forecast_curve(ScalingCurve curve, const Prior& prior,
                              const std::vector<double>& ranks, bool force, bool with_next) {
    thin(curve.points);
    const double smallest = curve.points.front().ranks, largest = curve.points.back().ranks;
    std::vector<double> targets;
    for (const double one : ranks) targets.push_back(std::max(one, smallest));
    const bool enough = curve.points.size() >= kFewestPoints;
    const Posterior posterior = enough ? fit(curve, prior, targets) : Posterior();
    const Refusal refusal = enough ? refusal_of(curve, prior, posterior) : Refusal::too_few_points;
    CurveForecasts found{.posterior = posterior.probability};
    CurveForecast farthest;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        auto& one = found.all.emplace_back(CurveForecast{ranks[i], refusal});
        if (enough && (one.ranks < smallest || (one.ranks > kReach * largest && !force)))
            one.refusal = Refusal::beyond_reach;
        if (one.refusal != Refusal::none) {
            one.ranks_to_measure = ranks_to_measure(one, curve.points);
            continue;
        }
        const auto& variance = posterior.at[i].variance;
        const auto widest = std::ranges::max_element(variance);
        one.estimate = posterior.at[i].estimate();
        if (const double per_node = per_node_of(curve); per_node > 0)
            one.nodes = std::ceil(one.ranks / per_node);
        one.widest = static_cast<Doubt>(widest - variance.begin());
        one.share = *widest / std::accumulate(variance.begin(), variance.end(), 0.0);
        if (one.ranks > farthest.ranks) farthest = one;
    }
    if (with_next && farthest.ranks > largest) found.next = next_point(curve, prior, farthest);
    return found;
}

}  // namespace ranklab::forecast
