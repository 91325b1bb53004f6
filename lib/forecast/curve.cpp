#include "forecast/curve.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/numbers.hpp"
#include "forecast/posterior.hpp"
#include "stats/distributions.hpp"

namespace ranklab::forecast {
namespace {

constexpr double kOtherKind = 0.5;      // weight of a source of another kind
constexpr double kMisfit = 0.15;        // largest standard deviation of points about a curve
constexpr double kHeldOutTail = 0.015;  // probability of a larger miss, to each side
constexpr std::size_t kFewestPoints = 3, kFewestHeldOut = 4, kMostPoints = 16;
constexpr int kLaunches = 3;      // added by a further measurement
constexpr double kWorthIt = 0.1;  // least useful narrowing, as a fraction of the interval

// Weights before any source is read; each source adds at most 1 in all to a parameter's weights.
// Tuned by hand on published curves, forecast without their source, and on simulated campaigns.
const Prior kBefore{
    .of = {{{24, 0.6, 0.1, 0.02, 0.004, 0.001}, {0.03, 0.045, 0.075, 0.12, 0.12, 0.1, 0.004}}}};

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

// At most kMostPoints points, the first and the last among them.
void thin(std::vector<CurvePoint>& points) {
    const std::size_t n = points.size();
    for (std::size_t i = 0; n > kMostPoints && i < kMostPoints; ++i)
        points[i] = points[i * (n - 1) / (kMostPoints - 1)];
    points.resize(std::min(n, kMostPoints));
}

}  // namespace

stats::RatioEstimate Prior::crossing_factor() const {
    std::vector<stats::NormalPart> parts;
    for (std::size_t i = 0; i < of[kCrossing].size(); ++i)  // each value is twice the one before
        parts.push_back({of[kCrossing][i], std::log(kValues[kCrossing][i]), std::log(2) / 2});
    const auto [logarithm, interval] = Mixture{parts}.estimate();
    return {std::exp(logarithm), {std::exp(interval.low), std::exp(interval.high)}};
}

Sources::Sources(const std::vector<ScalingCurve>& curves) {
    for (auto curve : curves) {
        if (curve.points.size() < 3) continue;
        const bool crosses =
            curve.points[1].ranks <= curve.per_node && curve.points.back().ranks > curve.per_node;
        if (!crosses) curve.per_node = HUGE_VAL;
        auto learned = fit(curve, kBefore, {}).probability;
        if (!crosses) learned.of[kCrossing].clear();
        by_source_[curve.source].push_back({curve.scaling, curve.work, std::move(learned)});
    }
}

Prior Sources::prior(Scaling scaling, Work work, std::string_view without) const {
    Prior found = kBefore;
    for (const auto& [source, curves] : by_source_)
        for (const auto unknown : {kDiscrepancy, kCrossing}) {
            double sum = 0, most = 0;
            std::vector<double> weights(found.of[unknown].size());
            for (const auto& curve : curves) {
                const auto& learned = curve.posterior.of[unknown];
                if (source == without || learned.empty()) continue;
                const bool same_kind =
                    curve.scaling == scaling && (work == Work::unknown || curve.work == work);
                const double weight = same_kind ? 1 : kOtherKind;
                sum += weight, most = std::max(most, weight);
                for (std::size_t i = 0; i < weights.size(); ++i) weights[i] += weight * learned[i];
            }
            for (std::size_t i = 0; sum > 0 && i < weights.size(); ++i)
                found.of[unknown][i] += most / sum * weights[i];
            if (unknown == kCrossing && most == 1) ++found.sources;
        }
    for (auto& of : found.of) {
        const double sum = std::accumulate(of.begin(), of.end(), 0.0);
        for (double& probability : of) probability /= sum;
    }
    return found;
}

std::vector<CurveForecast> forecast_curve(ScalingCurve curve, const Prior& prior,
                                          const std::vector<double>& ranks, bool force) {
    thin(curve.points);
    const double smallest = curve.points.front().ranks,
                 farthest = force ? HUGE_VAL : kReach * curve.points.back().ranks;
    std::vector<double> targets;
    for (const double one : ranks) targets.push_back(std::max(one, smallest));
    const bool enough = curve.points.size() >= kFewestPoints;
    const Posterior posterior = enough ? fit(curve, prior, targets) : Posterior();
    const Refusal refusal = enough ? refusal_of(curve, prior, posterior) : Refusal::too_few_points;
    std::vector<CurveForecast> found;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        auto& one = found.emplace_back(CurveForecast{ranks[i], refusal});
        if (enough && (one.ranks < smallest || one.ranks > farthest))
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
    }
    return found;
}

std::optional<NextPoint> next_point(ScalingCurve curve, const Prior& prior,
                                    const CurveForecast& forecast) {
    thin(curve.points);
    // Candidates: the first and the last two rank counts again, and doublings of the largest.
    const auto& points = curve.points;
    const double largest = points.back().ranks;
    std::vector<double> ranks{points.front().ranks, points.rbegin()[1].ranks, largest};
    for (double one = 2 * largest; one < forecast.ranks && one <= kReach * largest; one *= 2)
        ranks.push_back(one);
    const auto posterior = fit(curve, prior, ranks);
    const auto width = [](const stats::Interval& of) { return std::log(of.high / of.low); };
    std::optional<NextPoint> next;
    double most = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const double time = posterior.at[i].quantile(0.5);
        auto further = curve;
        auto place = std::ranges::find(further.points, ranks[i], &CurvePoint::ranks);
        if (place == further.points.end()) place = further.points.insert(place, {ranks[i]});
        place->times_s.insert(place->times_s.end(), kLaunches, time);
        const auto after = forecast_at(further, prior, forecast.ranks).estimate();
        const double narrowing = 1 - width(after.interval) / width(forecast.estimate.interval),
                     worth = narrowing * narrowing / (ranks[i] * time);
        if (narrowing < kWorthIt || worth <= most) continue;
        next = {ranks[i], after.interval};
        most = worth;
    }
    return next;
}

}  // namespace ranklab::forecast
