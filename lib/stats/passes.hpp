// Passes over a source, and rules that ask for values at ranks.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "stats/order.hpp"
#include "stats/series.hpp"

namespace ranklab::stats {

/// Calls `take(double)` with every sample.
template <class Take>
void for_each(const Source& source, Take take) {
    source.visit(
        [](void* state, std::span<const double> piece) {
            for (const double value : piece) (*static_cast<Take*>(state))(value);
        },
        &take);
}

struct Overview {
    std::size_t n = 0;
    long double sum = 0;
    bool has_nan = false;
};
Overview overview(const Source& source);

/// Calls `rule(x)`, where x(rank) is the value at a rank: once to hear which ranks it wants, with zeros, and
/// again with the values.
template <class Rule>
void ask(const Source& source, Rule rule) {
    std::map<std::size_t, double> values;
    rule([&](std::size_t rank) { return values[rank] = 0; });
    std::vector<std::size_t> ranks;
    for (const auto& [rank, value] : values) ranks.push_back(rank);
    const std::vector<double> found = order_statistics(source, ranks);
    for (std::size_t i = 0; i < ranks.size(); ++i) values[ranks[i]] = found[i];
    rule([&](std::size_t rank) { return values.at(rank); });
}

/// Tukey's far-out fences of n > 0 samples, from their quartiles.
template <class ValueAt>
Outliers fences(std::size_t n, ValueAt x) {
    const double lower = quantile_at(n, 0.25, x);
    const double upper = quantile_at(n, 0.75, x);
    return {.low_fence = lower - 3 * (upper - lower), .high_fence = upper + 3 * (upper - lower)};
}

}  // namespace ranklab::stats
