// Efficiencies of parallel steps by the POP method (Wagner et al., "A Structured Approach to
// Performance Analysis", Tools for HPC 2017), with a factor for the wait for input. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace ranklab::forecast {

/// Seconds of each rank in each step, row-major [step, rank].
struct StepMatrix {
    std::vector<std::string> node_of = {};  ///< a rank each
    std::vector<double> step_s = {};
    std::vector<double> input_s = {};   ///< waiting for samples
    std::vector<double> wait_s = {};    ///< for other ranks or the network
    std::vector<double> update_s = {};  ///< the part after the sum of the gradients
    bool synchronised = true;           ///< gradients are summed
};

/// Levels of the mean step, each at least the one before: the mean rank's computing; that of the
/// node with most of it; of the rank with most; with its wait for samples; all steps where a sum
/// takes no time; the measured steps. A loss is the difference of two neighbours; their factors,
/// a level over the next one, multiply to parallel().
struct Efficiencies {
    enum Loss : std::size_t { between_nodes, within_node, input, serialisation, transfer, kLosses };
    std::array<double, kLosses + 1> level_s{};

    double computing_s() const { return level_s.front(); }
    double step_s() const { return level_s.back(); }
    double parallel() const { return level_s.front() / level_s.back(); }
    double lost_s(Loss loss) const { return level_s[loss + 1] - level_s[loss]; }
    double factor(Loss loss) const { return level_s[loss] / level_s[loss + 1]; }
    double imbalance_s() const {
        return lost_s(between_nodes) + lost_s(within_node) + lost_s(serialisation);
    }
};
/// `steps` has at least one. On the ideal network each rank goes on at its own pace, but its update
/// waits for the last rank.
Efficiencies efficiencies_of(const StepMatrix& steps);

}  // namespace ranklab::forecast
