#include "forecast/pop.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "stats/summary.hpp"

namespace ranklab::forecast {
namespace {

using Values = std::vector<double>;

double largest_node_mean(const Values& of_ranks, const std::vector<std::string>& node_of) {
    std::map<std::string, Values> nodes;
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank)
        nodes[node_of[rank]].push_back(of_ranks[rank]);
    double most = 0;
    for (const auto& [node, values] : nodes) most = std::max(most, stats::mean_of_finite(values));
    return most;
}

}  // namespace

Efficiencies efficiencies_of(const StepMatrix& steps) {
    const std::size_t ranks = steps.node_of.size();
    Values computing(ranks), busy(ranks), whole(ranks), ideal(ranks);
    for (std::size_t row = 0; row < steps.step_s.size(); row += ranks) {
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            const std::size_t i = row + rank;
            const double own = steps.step_s[i] - steps.wait_s[i];
            computing[rank] += own - steps.input_s[i];
            busy[rank] += own;
            whole[rank] += steps.step_s[i];
            ideal[rank] += own - steps.update_s[i];
        }
        if (steps.synchronised) ideal.assign(ranks, std::ranges::max(ideal));
        for (std::size_t rank = 0; rank < ranks; ++rank) ideal[rank] += steps.update_s[row + rank];
    }
    Efficiencies found{{stats::mean_of_finite(computing),
                        largest_node_mean(computing, steps.node_of), std::ranges::max(computing),
                        std::ranges::max(busy), std::ranges::max(ideal), std::ranges::max(whole)}};
    auto& levels = found.level_s;
    const auto count = static_cast<double>(steps.step_s.size() / ranks);
    for (double& level : levels) level /= count;
    // Rounding may put a level below the one before it.
    std::partial_sum(levels.begin(), levels.end(), levels.begin(),
                     [](double before, double level) { return std::max(before, level); });
    return found;
}

}  // namespace ranklab::forecast
