#include "forecast/network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/numbers.hpp"
#include "stats/line_fit.hpp"

namespace ranklab::forecast {
namespace {

// Messages so many times smaller and larger lie on one line: MPI changes its protocol by size.
constexpr double kNear = 16;

struct Factors {
    double latency = 0, bytes = 0;
};

Factors factors_of(Algorithm algorithm, std::size_t ranks) {
    const double p = base::real(ranks), rounds = std::ceil(std::log2(p));
    if (algorithm == Algorithm::ring) return {2 * (p - 1), 2 * (p - 1) / p};
    if (algorithm == Algorithm::tree) return {2 * rounds, 2 * rounds};
    return {rounds, rounds};
}

AllreduceCost between(const MessageTime& a, const MessageTime& b, double bytes) {
    const auto at = [&](double low, double high) {
        if (bytes > b.bytes)  // what each byte more costs
            return std::max(high, high + (high - low) / (b.bytes - a.bytes) * (bytes - b.bytes));
        const double part = std::log(bytes / a.bytes) / std::log(b.bytes / a.bytes);
        return low * std::pow(high / low, part);
    };
    return {at(a.s, b.s), {at(a.ci.low, b.ci.low), at(a.ci.high, b.ci.high)}};
}

// The measured curve. A message below the smallest costs as much as that.
AllreduceCost measured_cost(const MeasuredLevel& level, double bytes) {
    const auto& all = level.messages;
    AllreduceCost cost{all.front().s, all.front().ci};
    if (bytes > all.front().bytes) {
        auto above = std::ranges::lower_bound(all, bytes, {}, &MessageTime::bytes);
        if (above == all.end()) --above;
        cost = between(*std::prev(above), *above, bytes);
    }
    if (!(cost.range.low > 0)) cost.range = {cost.s, cost.s};
    return cost;
}

stats::LineFit fit_near(const MeasuredLevel& level, double bytes) {
    const double size =
        std::clamp(bytes, level.messages.front().bytes, level.messages.back().bytes);
    std::vector<stats::LinePoint> near, all;
    for (const auto& one : level.messages) {
        all.push_back({one.bytes, one.s});
        if (one.bytes * kNear >= size && one.bytes <= kNear * size) near.push_back(all.back());
    }
    return stats::fit_line(near.size() < 3 ? all : near);
}

// How much more the message takes by this algorithm among `ranks`, and how far the fit may be off.
struct Growth {
    double factor = 1;
    stats::Interval range = {};
};
Growth growth_of(const MeasuredLevel& level, double bytes, std::size_t ranks, Algorithm algorithm) {
    const Factors here = factors_of(algorithm, level.ranks), there = factors_of(algorithm, ranks);
    const auto fit = fit_near(level, bytes);
    const auto by = [&](double alpha, double beta) {
        const double latency = alpha * there.latency / here.latency,
                     moving = beta * bytes * there.bytes / here.bytes;
        return (latency + moving) / (alpha + beta * bytes);
    };
    const double factor = by(fit.alpha, fit.beta);
    if (std::isnan(fit.alpha_ci.low)) return {factor, {factor, factor}};
    const double a = by(fit.alpha_ci.low, fit.beta_ci.high),
                 b = by(fit.alpha_ci.high, fit.beta_ci.low);
    return {factor, {std::min({a, b, factor}), std::max({a, b, factor})}};
}

AllreduceCost scaled(const MeasuredLevel& level, double bytes, std::size_t ranks,
                     std::span<const Algorithm> algorithms) {
    const auto measured = measured_cost(level, bytes);
    if (level.ranks == ranks) return measured;
    AllreduceCost cheapest;
    for (const auto algorithm : algorithms) {
        const auto [factor, range] = growth_of(level, bytes, ranks, algorithm);
        if (!(cheapest.s <= factor * measured.s)) {
            cheapest.s = factor * measured.s;
            cheapest.algorithm = algorithm;
        }
        cheapest.range.low = std::fmin(cheapest.range.low, range.low * measured.range.low);
        cheapest.range.high = std::fmax(cheapest.range.high, range.high * measured.range.high);
    }
    return cheapest;
}

// That of as many ranks on a host, or of one host, with the nearest number of ranks: the largest
// below, otherwise the smallest above.
const MeasuredLevel* nearest(std::span<const MeasuredLevel> levels, const Placement& wanted) {
    const bool on_one_host = wanted.ranks <= wanted.per_host;
    const MeasuredLevel* best = nullptr;
    for (const auto& level : levels) {
        if (level.ranks < 2 || (level.ranks <= level.per_host) != on_one_host) continue;
        if (!on_one_host && level.per_host != wanted.per_host) continue;
        const auto rank = [&](const MeasuredLevel& one) {
            return one.ranks <= wanted.ranks ? base::real(one.ranks) : -base::real(one.ranks);
        };
        if (best == nullptr || rank(level) > rank(*best)) best = &level;
    }
    return best;
}

}  // namespace

std::string_view name_of(Algorithm algorithm) {
    constexpr std::array<std::string_view, 5> kNames{"measured", "ring", "recursive doubling",
                                                     "tree", "hierarchical"};
    return kNames[static_cast<std::size_t>(base::number_of(algorithm))];
}

AllreduceCost allreduce_cost(std::span<const MeasuredLevel> levels, double bytes,
                             const Placement& placement, std::span<const Algorithm> algorithms) {
    if (placement.ranks < 2) return {0, {0, 0}};
    AllreduceCost cost;
    if (const auto* level = nearest(levels, placement); level != nullptr)
        cost = scaled(*level, bytes, placement.ranks, algorithms);
    const std::size_t per_host = placement.per_host;
    if (per_host < 2 || placement.ranks <= per_host ||
        (!std::isnan(cost.s) && cost.algorithm == Algorithm::measured))
        return cost;
    const auto host = allreduce_cost(levels, bytes, {per_host, per_host}, algorithms);
    const auto hosts =
        allreduce_cost(levels, bytes, {(placement.ranks + per_host - 1) / per_host, 1}, algorithms);
    if (std::isnan(host.s + hosts.s)) return cost;
    const stats::Interval sum{host.range.low + hosts.range.low, host.range.high + hosts.range.high};
    cost.range = {std::fmin(cost.range.low, sum.low), std::fmax(cost.range.high, sum.high)};
    if (std::isnan(cost.s)) {
        cost.s = host.s + hosts.s;
        cost.algorithm = Algorithm::hierarchical;
    }
    return cost;
}

AllreduceCost in_pieces(std::span<const MeasuredLevel> levels, double bytes, double piece_bytes,
                        const Placement& placement, std::span<const Algorithm> algorithms) {
    if (!(piece_bytes > 0) || bytes <= piece_bytes)
        return allreduce_cost(levels, bytes, placement, algorithms);
    const double whole = std::floor(bytes / piece_bytes), rest = bytes - whole * piece_bytes;
    AllreduceCost cost = allreduce_cost(levels, piece_bytes, placement, algorithms);
    cost.s *= whole;
    cost.range = {whole * cost.range.low, whole * cost.range.high};
    if (!(rest > 0)) return cost;
    const auto last = allreduce_cost(levels, rest, placement, algorithms);
    cost.s += last.s;
    cost.range = {cost.range.low + last.range.low, cost.range.high + last.range.high};
    return cost;
}

}  // namespace ranklab::forecast
