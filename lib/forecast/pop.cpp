#include "forecast/pop.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace ranklab::forecast {
namespace {

using Values = std::vector<double>;

double mean(const Values& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double largest_node_mean(const Values& of_ranks, const std::vector<int>& node_of) {
    std::map<int, Values> nodes;
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank)
        nodes[node_of[rank]].push_back(of_ranks[rank]);
    double most = 0;
    for (const auto& [node, values] : nodes) most = std::max(most, mean(values));
    return most;
}

}  // namespace

Efficiencies efficiencies_of(const StepMatrix& steps, std::size_t first, std::size_t count) {
    const std::size_t ranks = steps.node_of.size();
    Values compute(ranks), busy(ranks), whole(ranks), ideal(ranks);
    for (std::size_t row = first * ranks; row < (first + count) * ranks; row += ranks) {
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
    Efficiencies found{{mean(compute), largest_node_mean(compute, steps.node_of),
                        std::ranges::max(compute), std::ranges::max(busy), std::ranges::max(ideal),
                        std::ranges::max(whole)}};
    double before = 0;  // rounding may put a level below the one before it
    for (double& level : found.level_s) {
        level = std::max(level / static_cast<double>(count), before);
        before = level;
    }
    return found;
}

double seconds_of(const Efficiencies& found, Bound bound) {
    switch (bound) {
        case Bound::compute:
            return found.level_s.front();
        case Bound::input:
            return found.lost_s(Loss::input);
        case Bound::communication:
            return found.lost_s(Loss::transfer);
        case Bound::imbalance:
            return found.lost_s(Loss::between_nodes) + found.lost_s(Loss::within_node) +
                   found.lost_s(Loss::serialisation);
        default:
            return 0;
    }
}

Bound bound_of(const Efficiencies& found) {
    if (found.parallel() >= kGoodEfficiency) return Bound::compute;
    return std::ranges::max({Bound::input, Bound::communication, Bound::imbalance}, {},
                            [&](Bound bound) { return seconds_of(found, bound); });
}

}  // namespace ranklab::forecast
