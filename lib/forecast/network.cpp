#include "forecast/network.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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

// The measured curve. A message below the smallest costs as much as that.
AllreduceCost measured_cost(const MeasuredLevel& level, double bytes) {
    const auto& all = level.messages;
    auto above = std::ranges::lower_bound(all, bytes, {}, &MessageTime::bytes);
    if (above == all.begin()) return {above->s, above->ci};
    if (above == all.end()) --above;
    const MessageTime &a = *std::prev(above), &b = *above;
    const auto at = [&](double low, double high) {
        if (bytes > b.bytes)  // each byte more at its cost there
            return std::max(high, high + (high - low) / (b.bytes - a.bytes) * (bytes - b.bytes));
        return low * std::pow(high / low, std::log(bytes / a.bytes) / std::log(b.bytes / a.bytes));
    };
    return {at(a.s, b.s), {at(a.ci.low, b.ci.low), at(a.ci.high, b.ci.high)}};
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
MessageTime growth_of(const MeasuredLevel& level, double bytes, std::size_t ranks,
                      Algorithm algorithm) {
    const Factors here = factors_of(algorithm, level.on.ranks),
                  there = factors_of(algorithm, ranks);
    const auto fit = fit_near(level, bytes);
    const auto by = [&](double alpha, double beta) {
        const double latency = alpha * there.latency / here.latency,
                     moving = beta * bytes * there.bytes / here.bytes;
        return (latency + moving) / (alpha + beta * bytes);
    };
    const double factor = by(fit.alpha, fit.beta);
    const double a = by(fit.alpha_ci.low, fit.beta_ci.high),
                 b = by(fit.alpha_ci.high, fit.beta_ci.low);
    return {
        bytes, factor, {std::fmin(factor, std::fmin(a, b)), std::fmax(factor, std::fmax(a, b))}};
}

AllreduceCost scaled(const MeasuredLevel& level, double bytes, std::size_t ranks,
                     std::span<const Algorithm> algorithms) {
    const auto measured = measured_cost(level, bytes);
    if (level.on.ranks == ranks) return measured;
    AllreduceCost cheapest;
    for (const auto algorithm : algorithms) {
        const auto growth = growth_of(level, bytes, ranks, algorithm);
        const double s = growth.s * measured.s;
        if (!(cheapest.s <= s)) cheapest.s = s, cheapest.algorithm = algorithm;
        const auto& [low, high] = growth.ci;
        cheapest.range = {std::fmin(cheapest.range.low, low * measured.range.low),
                          std::fmax(cheapest.range.high, high * measured.range.high)};
    }
    return cheapest;
}

AllreduceCost sum_of(double times, const AllreduceCost& a, const AllreduceCost& b) {
    return {times * a.s + b.s,
            {times * a.range.low + b.range.low, times * a.range.high + b.range.high},
            a.algorithm};
}

// On as many ranks a host, or on one host; of these the largest that is not larger than wanted,
// otherwise the smallest.
const MeasuredLevel* nearest(std::span<const MeasuredLevel> levels, const Placement& wanted) {
    const bool on_one_host = wanted.ranks <= wanted.per_host;
    const MeasuredLevel* best = nullptr;
    const auto worth = [&](const MeasuredLevel& one) {
        return base::real(one.on.ranks) * (one.on.ranks <= wanted.ranks ? 1 : -1);
    };
    for (const auto& level : levels) {
        const bool fits = on_one_host ? level.on.ranks <= level.on.per_host
                                      : level.on.ranks > level.on.per_host &&
                                            level.on.per_host == wanted.per_host;
        if (fits && level.on.ranks > 1 && (best == nullptr || worth(level) > worth(*best)))
            best = &level;
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
    const auto [ranks, per_host] = placement;
    if (ranks < 2) return {0, {0, 0}};
    const auto* level = nearest(levels, placement);
    if (level != nullptr) return scaled(*level, bytes, ranks, algorithms);
    if (per_host < 2 || ranks <= per_host) return {};
    auto cost =
        sum_of(1, allreduce_cost(levels, bytes, {per_host, per_host}, algorithms),
               allreduce_cost(levels, bytes, {(ranks + per_host - 1) / per_host, 1}, algorithms));
    cost.algorithm = Algorithm::hierarchical;
    return cost;
}

AllreduceCost in_pieces(std::span<const MeasuredLevel> levels, double bytes, double piece_bytes,
                        const Placement& placement, std::span<const Algorithm> algorithms) {
    const auto cost = [&](double part) {
        return part > 0 ? allreduce_cost(levels, part, placement, algorithms)
                        : AllreduceCost{0, {0, 0}};
    };
    if (bytes <= piece_bytes || !(piece_bytes > 0)) return cost(bytes);
    const double pieces = std::floor(bytes / piece_bytes);
    return sum_of(pieces, cost(piece_bytes), cost(bytes - pieces * piece_bytes));
}

}  // namespace ranklab::forecast
