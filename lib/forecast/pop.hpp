// Efficiencies of parallel steps by the POP method (Wagner et al., "A Structured Approach to
// Performance Analysis", Tools for HPC 2017), with a factor for the wait for input. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace ranklab::forecast {

/// Seconds of each rank in each step, row-major [step, rank].
struct StepMatrix {
    std::vector<int> node_of = {};       ///< of each rank
    std::vector<double> compute_s = {};  ///< without waiting for samples, ranks or the network
    std::vector<double> update_s = {};   ///< of that, what follows the sum of the gradients
    std::vector<double> input_s = {};    ///< waiting for samples
    std::vector<double> step_s = {};
    bool synchronised = true;  ///< gradients are summed
};

/// Why a step takes longer than its mean rank computes.
enum class Loss { between_nodes, within_node, input, serialisation, transfer };
inline constexpr std::size_t kLosses = 5;

/// Levels of the mean step, each at least the one before: the mean rank's computing; that of the
/// node with most of it; of the rank with most; with its wait for samples; all steps where a sum
/// takes no time; the measured steps.
struct Efficiencies {
    std::array<double, kLosses + 1> level_s{};

    double step_s() const { return level_s.back(); }
    double parallel() const { return level_s.front() / level_s.back(); }
    /// Each loss adds to its level; factors, a level over the next one, multiply to parallel().
    double lost_s(Loss loss) const { return level_s[next(loss)] - level_s[next(loss) - 1]; }
    double factor(Loss loss) const { return level_s[next(loss) - 1] / level_s[next(loss)]; }

  private:
    static std::size_t next(Loss loss) { return static_cast<std::size_t>(loss) + 1; }
};
/// `count` >= 1 steps from `first` on. On the ideal network each rank goes on at its own pace, but
/// its update waits for the last rank.
Efficiencies efficiencies_of(const StepMatrix& steps, std::size_t first, std::size_t count);

enum class Bound { input, communication, compute, imbalance, start_up, unknown };
/// POP's mark: from this parallel efficiency on, computing binds; below it the largest loss, where
/// losses between nodes, within one and by serialisation are imbalance.
inline constexpr double kGoodEfficiency = 0.8;
Bound bound_of(const Efficiencies& found);
/// Seconds of the mean step: of compute the first level; 0 of start_up and unknown.
double seconds_of(const Efficiencies& found, Bound bound);

}  // namespace ranklab::forecast
