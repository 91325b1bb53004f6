#include "stats/race.hpp"

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "stats/distributions.hpp"

namespace ranklab::stats {

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
    // How much more a point costs than the first one, as a logarithm, and the error of that.
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
        points, [&](std::size_t i) { return i == first || more(i) + error(i) <= most; });
    return {points, decided};
}

}  // namespace ranklab::stats
