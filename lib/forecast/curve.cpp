#include "forecast/curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
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
constexpr double kUsual = 0.02;   // relative deviation of a run, if no point has repeats
// Probabilities where nodes are unknown: all on one node, the first crossing after the largest
// point, after twice the largest point, between points (only if no point tells its nodes).
constexpr double kOneNode = 0.42, kNextNode = 0.28, kLaterNode = 0.06, kNodeInside = 0.24;

// Hypotheses of how many ranks one node holds.
std::vector<Capacity> capacities_of(std::span<const CurvePoint> points, double per_node) {
    bool one_node = true;
    for (const auto& point : points) {
        one_node = one_node && point.nodes == 1;
        if (point.nodes > 1) per_node = std::max(per_node, std::ceil(point.ranks / point.nodes));
    }
    if (per_node > 0) return {{per_node, 1}};
    const double largest = points.back().ranks, gaps = base::real(points.size() - 1);
    std::vector<Capacity> found{{std::numeric_limits<double>::infinity(), kOneNode},
                                {largest, kNextNode},
                                {2 * largest, kLaterNode}};
    for (const auto& point : points.first(one_node ? 0 : points.size() - 1))
        found.push_back({point.ranks, kNodeInside / gaps});
    return found;
}

// The measured points, and what is known of the curve.
struct Measured {
    std::vector<CurvePoint> points;
    Scaling scaling;
    const Prior& prior;
    std::vector<Capacity> capacities;

    double largest() const { return points.back().ranks; }
    Posterior at(std::span<const double> targets) const {
        return fit(points, scaling, prior, capacities, targets);
    }
    Mixture at(double ranks) const { return at({&ranks, 1}).at.front(); }
    std::vector<stats::Repeats> repeats() const {
        std::vector<stats::Repeats> all;
        for (const auto& point : points) all.push_back(point.times_s);
        return all;
    }
    // With three further launches at `ranks`, about `time_s`.
    Measured with(double ranks, double time_s) const {
        const auto scatter = stats::scatter_of(repeats());
        const double factor =
            std::exp(std::sqrt(1.5 * (scatter.freedom > 0 ? scatter.variance : kUsual * kUsual)));
        Measured more = *this;
        const auto place = std::ranges::lower_bound(more.points, ranks, {}, &CurvePoint::ranks);
        const bool is_new = place == more.points.end() || place->ranks != ranks;
        auto& times = (is_new ? *more.points.insert(place, CurvePoint{ranks}) : *place).times_s;
        times.insert(times.end(), {time_s / factor, time_s, time_s * factor});
        return more;
    }
};

// Whether the largest point lies outside the forecast from the others.
bool misses_largest(const Measured& measured) {
    if (measured.points.size() < kFewestHeldOut) return false;
    Measured others = measured;
    others.points.pop_back();
    const Mixture at = others.at(measured.largest());
    const double time = measured.points.back().middle();
    return time < at.quantile(kHeldOutTail) || time > at.quantile(1 - kHeldOutTail);
}

// Rank counts to measure so that the forecast is not refused again.
std::vector<double> ranks_to_measure(const CurveForecast& refused,
                                     std::span<const CurvePoint> points) {
    const double largest = points.back().ranks;
    std::vector<double> ranks{2 * largest};
    if (refused.refusal == Refusal::beyond_reach)
        return {refused.ranks < largest ? refused.ranks : std::ceil(refused.ranks / kReach)};
    if (refused.refusal == Refusal::too_few_points || refused.refusal == Refusal::held_out_missed) {
        if (points.size() != kFewestPoints - 1) ranks.push_back(4 * largest);
        return ranks;
    }
    ranks.clear();
    for (const auto& point : points) ranks.push_back(point.ranks);
    return ranks;
}

double width(const stats::Interval& interval) {
    return std::log(interval.high / interval.low);
}

// The measurement that narrows the interval most per rank-hour; nullopt if none narrows it enough.
std::optional<NextPoint> next_point(const Measured& measured, const CurveForecast& farthest) {
    // Candidates: the first and the last two rank counts again, and doublings of the largest.
    std::set<double> set{measured.points.front().ranks, measured.points.rbegin()[1].ranks};
    for (double one = measured.largest();
         one < farthest.ranks && one <= kReach * measured.largest(); one *= 2)
        set.insert(one);
    const std::vector<double> ranks(set.begin(), set.end());
    const auto posterior = measured.at(ranks);
    struct Candidate {
        NextPoint next;
        double narrowing = 0, worth = 0;
    };
    std::vector<Candidate> all;
    double enough = kWorthIt;  // least narrowing that counts; raised to half of the best
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const double time = posterior.at[i].quantile(0.5);
        const auto after = measured.with(ranks[i], time).at(farthest.ranks).estimate().interval;
        const double narrowing = 1 - width(after) / width(farthest.estimate.interval);
        all.push_back({{ranks[i], farthest.ranks, after}, narrowing, narrowing / ranks[i] / time});
        enough = std::max(enough, narrowing / 2);
    }
    std::erase_if(all, [&](const Candidate& one) { return one.narrowing < enough; });
    if (all.empty()) return std::nullopt;
    return std::ranges::max(all, {}, &Candidate::worth).next;
}

// At most kMostPoints points, the first and the last among them.
std::vector<CurvePoint> thinned(std::vector<CurvePoint> points) {
    std::ranges::sort(points, {}, &CurvePoint::ranks);
    const std::size_t n = points.size();
    for (std::size_t i = 0; n > kMostPoints && i < kMostPoints; ++i)
        points[i] = points[i * (n - 1) / (kMostPoints - 1)];
    points.resize(std::min(n, kMostPoints));
    return points;
}

}  // namespace

CurveForecasts forecast_curve(std::vector<CurvePoint> points, Scaling scaling, const Prior& prior,
                              const std::vector<double>& ranks, double per_node, bool force,
                              bool with_next) {
    points = thinned(std::move(points));
    const Measured measured{points, scaling, prior, capacities_of(points, per_node)};
    CurveForecasts found;
    std::vector<double> targets;
    for (const double one : ranks) {
        const bool beyond =
            one < points.front().ranks || (!force && one > kReach * measured.largest());
        found.all.push_back({one, points.size() < kFewestPoints ? Refusal::too_few_points
                                  : beyond                      ? Refusal::beyond_reach
                                                                : Refusal::none});
        if (found.all.back().refusal == Refusal::none) targets.push_back(one);
    }
    if (points.size() >= kFewestPoints) {
        const auto posterior = measured.at(targets);
        const auto repeats = measured.repeats();
        const Refusal refusal = stats::first_are_larger(repeats)       ? Refusal::warm_up_inside
                                : stats::contradict(repeats)           ? Refusal::repeats_contradict
                                : misses_largest(measured)             ? Refusal::held_out_missed
                                : posterior.misfit > kMisfit * kMisfit ? Refusal::misfit
                                                                       : Refusal::none;
        found.weights = posterior.weights;
        auto mixture = posterior.at.begin();
        const CurveForecast* farthest = nullptr;
        for (auto& one : found.all) {
            if (one.refusal != Refusal::none) continue;
            const Mixture& at = *mixture++;
            one.refusal = refusal;
            if (refusal != Refusal::none) continue;
            const auto widest = std::ranges::max_element(at.variance);
            one.estimate = at.estimate();
            if (measured.capacities.size() == 1)
                one.nodes = std::ceil(one.ranks / measured.capacities.front().ranks);
            one.widest = static_cast<Doubt>(widest - at.variance.begin());
            one.share = *widest / std::accumulate(at.variance.begin(), at.variance.end(), 0.0);
            if (farthest == nullptr || one.ranks > farthest->ranks) farthest = &one;
        }
        if (with_next && farthest != nullptr && farthest->ranks > measured.largest())
            found.next = next_point(measured, *farthest);
    }
    for (auto& one : found.all)
        if (one.refusal != Refusal::none) one.ranks_to_measure = ranks_to_measure(one, points);
    return found;
}

}  // namespace ranklab::forecast
