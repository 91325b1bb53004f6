#include "forecast/pop.hpp"

#include <algorithm>
#include <map>

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
    Values compute(ranks), busy(ranks), whole(ranks), ideal(ranks);
    for (std::size_t row = 0; row < steps.step_s.size(); row += ranks) {
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            const std::size_t i = row + rank;
            compute[rank] += steps.compute_s[i];
            busy[rank] += steps.compute_s[i] + steps.input_s[i];
            whole[rank] += steps.step_s[i];
            ideal[rank] += steps.compute_s[i] + steps.input_s[i] - steps.update_s[i];
        }
        if (steps.synchronised) ideal.assign(ranks, std::ranges::max(ideal));
        for (std::size_t rank = 0; rank < ranks; ++rank) ideal[rank] += steps.update_s[row + rank];
    }
    Efficiencies found{{stats::mean_of_finite(compute), largest_node_mean(compute, steps.node_of),
                        std::ranges::max(compute), std::ranges::max(busy), std::ranges::max(ideal),
                        std::ranges::max(whole)}};
    double before = 0;  // rounding may put a level below the one before it
    const auto count = static_cast<double>(steps.step_s.size() / ranks);
    for (double& level : found.level_s) {
        level = std::max(level / count, before);
        before = level;
    }
    return found;
}

double seconds_of(const Efficiencies& found, Bound bound) {
    const double computing = found.level_s.front(), input = found.lost_s(Efficiencies::input),
                 transfer = found.lost_s(Efficiencies::transfer);
    return bound == Bound::compute         ? computing
           : bound == Bound::input         ? input
           : bound == Bound::communication ? transfer
                                           : found.step_s() - computing - input - transfer;
}

Bound bound_of(const Efficiencies& found) {
    if (found.parallel() >= kGoodEfficiency) return Bound::compute;
    return std::ranges::max({Bound::input, Bound::communication, Bound::imbalance}, {},
                            [&](Bound bound) { return seconds_of(found, bound); });
}

}  // namespace ranklab::forecast
