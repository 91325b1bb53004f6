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
    std::vector<double> compute_s = {};     ///< without waiting for samples, ranks or the network
    std::vector<double> update_s = {};      ///< the part after the sum of the gradients
    std::vector<double> input_s = {};       ///< waiting for samples
    std::vector<double> step_s = {};
    bool synchronised = true;  ///< gradients are summed
};

/// Levels of the mean step, each at least the one before: the mean rank's computing; that of the
/// node with most of it; of the rank with most; with its wait for samples; all steps where a sum
/// takes no time; the measured steps. A loss is the difference of two neighbours; their factors,
/// a level over the next one, multiply to parallel().
struct Efficiencies {
    enum Loss : std::size_t { between_nodes, within_node, input, serialisation, transfer, kLosses };
    std::array<double, kLosses + 1> level_s{};

    double step_s() const { return level_s.back(); }
    double parallel() const { return level_s.front() / level_s.back(); }
    double lost_s(std::size_t loss) const { return level_s[loss + 1] - level_s[loss]; }
    double factor(std::size_t loss) const { return level_s[loss] / level_s[loss + 1]; }
};
/// `steps` has at least one. On the ideal network each rank goes on at its own pace, but its update
/// waits for the last rank.
Efficiencies efficiencies_of(const StepMatrix& steps);

enum class Bound { compute, input, communication, imbalance };
/// POP's mark: from this parallel efficiency on, computing binds; below it the largest loss, where
/// losses between nodes, within one and by serialisation are imbalance.
inline constexpr double kGoodEfficiency = 0.8;
Bound bound_of(const Efficiencies& found);
/// Seconds of the mean step: of compute the first level.
double seconds_of(const Efficiencies& found, Bound bound);

}  // namespace ranklab::forecast
