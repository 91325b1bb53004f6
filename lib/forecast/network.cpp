#include "forecast/step.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/numbers.hpp"
#include "stats/interval.hpp"

namespace ranklab::forecast {
namespace {

// A line is fitted to messages at most this factor smaller or larger, since MPI changes its
// protocol with the size.
constexpr double kNear = 16;
constexpr double kLargest = 4;  // farthest extrapolation, times the largest measured message

using MeasuredLevel = std::pair<const Placement, AllreduceCurve>;

// Time by the formulas of docs/predict.md, without the tree's factor 2, which cancels in ratios.
double time_by(Algorithm algorithm, std::size_t ranks, double latency, double moving) {
    const double p = base::real(ranks), rounds = std::ceil(std::log2(p));
    if (algorithm == Algorithm::ring) return 2 * (p - 1) * latency + 2 * (p - 1) / p * moving;
    return rounds * (latency + moving);
}

stats::LineFit fit_near(const AllreduceCurve& curve, double bytes) {
    const double size = std::clamp(bytes, curve.begin()->first, curve.rbegin()->first);
    std::vector<stats::LinePoint> near, all;
    for (const auto& [x, time] : curve) {
        all.push_back({x, time.s});
        if (x * kNear >= size && x <= kNear * size) near.push_back(all.back());
    }
    return stats::fit_line(near.size() < 3 ? all : near);
}

AllreduceTime scaled(const MeasuredLevel& level, double bytes, std::size_t ranks,
                     const std::vector<Algorithm>& algorithms) {
    const Placement& on = level.first;
    const auto measured = time_on(level.second, bytes);
    const auto fit = fit_near(level.second, bytes);
    AllreduceTime cheapest;
    for (const auto algorithm : algorithms) {
        const auto growth = [&](double alpha, double beta) {
            const double latency = alpha / time_by(algorithm, on.ranks, 1, 0),
                         moving = beta * bytes / time_by(algorithm, on.ranks, 0, 1);
            return time_by(algorithm, ranks, latency, moving) / (alpha + beta * bytes);
        };
        const double best = growth(fit.alpha, fit.beta), s = best * measured.s;
        if (!(cheapest.s <= s)) cheapest.s = s, cheapest.algorithm = algorithm;
        for (const double one : {best, growth(fit.alpha_ci.low, fit.beta_ci.high),
                                 growth(fit.alpha_ci.high, fit.beta_ci.low)}) {
            auto& [low, high] = cheapest.range;
            low = std::fmin(low, one * measured.range.low);
            high = std::fmax(high, one * measured.range.high);
        }
    }
    return cheapest;
}

AllreduceTime sum_of(double times, const AllreduceTime& a, const AllreduceTime& b) {
    return {times * a.s + b.s,
            {times * a.range.low + b.range.low, times * a.range.high + b.range.high},
            a.algorithm};
}

// Returns a level of one host if `wanted` is on one host, otherwise one with equal ranks per host:
// the largest with at most the wanted ranks, else the smallest. nullptr: there is none.
const MeasuredLevel* nearest(const MeasuredNetwork& network, const Placement& wanted) {
    const bool on_one_host = wanted.ranks <= wanted.per_host;
    const MeasuredLevel* best = nullptr;
    for (const auto& level : network.levels) {  // ascending in ranks
        const auto& on = level.first;
        const bool fits = on_one_host ? on.ranks <= on.per_host
                                      : on.ranks > on.per_host && on.per_host == wanted.per_host;
        if (fits && on.ranks > 1 && (best == nullptr || on.ranks <= wanted.ranks)) best = &level;
    }
    return best;
}

}  // namespace

const char* name_of(Algorithm algorithm) {
    constexpr std::array kNames{"measured", "ring", "recursive doubling", "tree", "hierarchical"};
    return kNames[static_cast<std::size_t>(base::number_of(algorithm))];
}

AllreduceTime time_on(const AllreduceCurve& curve, double bytes) {
    auto above = curve.lower_bound(bytes);
    if (above == curve.begin()) return above->second;
    if (above == curve.end()) --above;
    const auto &a = *std::prev(above), &b = *above;
    const auto at = [&](double low, double high) {
        if (bytes > b.first)  // the cost per byte between the last two sizes
            return std::max(high, high + (high - low) / (b.first - a.first) * (bytes - b.first));
        return low * std::pow(high / low, std::log(bytes / a.first) / std::log(b.first / a.first));
    };
    const auto &low = a.second, &high = b.second;
    return {at(low.s, high.s),
            {at(low.range.low, high.range.low), at(low.range.high, high.range.high)}};
}

AllreduceTime allreduce_time(const MeasuredNetwork& network, double bytes,
                             const Placement& placement) {
    const auto [ranks, per_host] = placement;
    if (ranks < 2 || !(bytes > 0)) return {0, {0, 0}};
    if (const auto* level = nearest(network, placement)) {
        if (bytes > kLargest * level->second.rbegin()->first) return {};
        return level->first.ranks == ranks ? time_on(level->second, bytes)
                                           : scaled(*level, bytes, ranks, network.algorithms);
    }
    if (per_host < 2 || ranks <= per_host) return {};
    auto time = sum_of(1, allreduce_time(network, bytes, {per_host, per_host}),
                       allreduce_time(network, bytes, {(ranks + per_host - 1) / per_host, 1}));
    time.algorithm = Algorithm::hierarchical;
    return time;
}

AllreduceTime in_pieces(const MeasuredNetwork& network, double bytes, double piece_bytes,
                        const Placement& placement) {
    if (bytes <= piece_bytes) return allreduce_time(network, bytes, placement);
    const double pieces = std::floor(bytes / piece_bytes);
    return sum_of(pieces, allreduce_time(network, piece_bytes, placement),
                  allreduce_time(network, bytes - pieces * piece_bytes, placement));
}

}  // namespace ranklab::forecast
