#include "stats/repeats.hpp"

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "stats/distributions.hpp"
#include "stats/summary.hpp"

namespace ranklab::stats {

double log_mean(std::span<const double> values) {
    double sum = 0;
    for (const double value : values) sum += std::log(value);
    return sum / base::real(values.size());
}

double log_squares(std::span<const double> values) {
    const double mean = log_mean(values);
    double sum = 0;
    for (const double value : values) sum += std::pow(std::log(value) - mean, 2);
    return sum;
}

Scatter scatter_of(std::span<const Repeats> points, std::size_t skipped) {
    Scatter all;
    for (const auto& point : points) {
        if (point.size() < skipped + 2) continue;
        all.variance += log_squares(std::span(point).subspan(skipped));
        all.freedom += base::real(point.size() - skipped - 1);
    }
    if (all.freedom > 0) all.variance /= all.freedom;
    return all;
}

bool first_are_larger(std::span<const Repeats> points) {
    constexpr double kLeast = 0.03, kConfident = 0.999;
    const Scatter later = scatter_of(points, 1);
    double sum = 0, variance = 0, count = 0;
    for (const auto& point : points) {
        if (point.size() < 3) continue;
        sum += std::log(point.front()) - log_mean(std::span(point).subspan(1));
        variance += later.variance * (1 + 1 / base::real(point.size() - 1));
        count += 1;
    }
    if (later.freedom < 2 || sum < kLeast * count) return false;
    return sum > student_quantile(kConfident, later.freedom) * std::sqrt(variance);
}

bool contradict(std::span<const Repeats> points) {
    constexpr double kMost = 0.15, kMostTimes = 4;
    std::vector<double> spreads;
    for (const auto& point : points) {
        if (point.size() < 2) continue;
        const auto [least, most] = std::ranges::minmax(point);
        spreads.push_back(std::log(most / least));
    }
    if (spreads.size() < 2) return false;
    const double most = std::ranges::max(spreads);
    return std::sqrt(scatter_of(points).variance) > kMost ||
           (most > kMost && most > kMostTimes * quantile(spreads, 0.5));
}

Standing standing_of(std::span<const Repeats> costs, double min_effect, bool last) {
    constexpr double kAlpha = 0.05, kOfRounds = 0.5;
    std::vector<std::size_t> points;
    for (std::size_t i = 0; i < costs.size(); ++i)
        if (costs[i].size() >= 2) points.push_back(i);
    if (points.empty()) return {};
    const std::size_t first = *std::ranges::min_element(points, {}, [&](std::size_t i) {
        return std::pair(-base::real(costs[i].size()), log_mean(costs[i]));
    });
    const Scatter scatter = scatter_of(costs);
    const double alpha = kAlpha / (base::real(points.size()) - 1), most = std::log1p(min_effect);
    // How much more a point costs than the first one, as a logarithm, and the test's margin.
    const auto more = [&](std::size_t i) {
        return log_mean(costs[i]) - log_mean(std::span(costs[first]).first(costs[i].size()));
    };
    const auto error = [&](std::size_t i) {
        const double n = base::real(costs[i].size());
        const double share = last ? 1 - kOfRounds : kOfRounds / (n * (n - 1));
        return student_quantile(1 - alpha * share, scatter.freedom) *
               std::sqrt(2 * scatter.variance / n);
    };
    std::erase_if(points, [&](std::size_t i) {
        return i != first && (more(i) > error(i) || (last && error(i) - more(i) <= most));
    });
    std::ranges::sort(points, {}, [&](std::size_t i) { return std::pair(i != first, more(i)); });
    const bool decided = std::ranges::all_of(
        points, [&](std::size_t i) { return i == first || std::abs(more(i)) + error(i) <= most; });
    return {points, decided};
}

}  // namespace ranklab::stats
