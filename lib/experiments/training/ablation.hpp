// --ablation: finds what limits a step, by trials of whole steps, of steps without input, without
// communication or without both, and of input alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results/run.hpp"

namespace ranklab::experiments {

struct ObservedRun;

/// io: batches are made and copied, nothing is computed. synthetic: the first batch, repeated.
/// nocomm: real input, nothing is sent. compute: synthetic and nocomm. full: the whole step.
enum class Trial : std::size_t { io, synthetic, nocomm, compute, full };
inline constexpr std::array<std::string_view, 5> kTrialNames{"io", "synthetic", "nocomm", "compute",
                                                             "full"};

struct TrialTimes {
    Trial trial = Trial::full;
    std::vector<double> seconds;  ///< by rank, of the whole trial
    std::int64_t steps = 0;
    std::int64_t made = 0;     ///< steps made, at most `steps`
    std::int64_t samples = 0;  ///< of all ranks

    /// False if a stop signal ended the trial.
    bool all_steps() const { return made == steps; }
    double longest() const { return *std::ranges::max_element(seconds); }
    /// The lower median over ranks: of two ranks the faster one.
    double typical() const {
        auto all = seconds;
        std::ranges::nth_element(all, all.begin() + (std::ssize(all) - 1) / 2);
        return all[(all.size() - 1) / 2];
    }
};

/// Makes a round of all kinds of trials to warm up, then --repetitions rounds. Each round has a
/// random order, the same on all ranks. After a stop signal, returns the complete rounds. At the
/// end the ranks' training states are equal, if they were before. Collective.
std::vector<TrialTimes> make_trials(ObservedRun& observed);

/// One part of the mean step of the full trials.
struct Part {
    std::string part;
    /// Seconds of a step that the part takes; negative if leaving the part out did not help.
    double step_s = 0;
    double percent = 0;        ///< of the sum of positive parts
    double samples_per_s = 0;  ///< with this part and the parts before it
    double lost = 0;           ///< samples/s that this part costs
};

/// Returns the parts of the step, which add up to T(full). T is the step time of the slowest rank,
/// mean over trials of one kind. C = Trial::compute, or synthetic if no trial leaves communication
/// out. compute = step time of C's median rank. imbalance = T(C) - compute. communication = T(full)
/// - T(nocomm), or 0. input = T(full) - T(synthetic). rest = what remains: noise, or parts that
/// overlap. `trials` holds at least one trial of full and of C.
std::vector<Part> waterfall(const std::vector<TrialTimes>& trials);

/// Returns "compute limits: compute 97.1 %, input 2.0 %, ..." if the largest part (the rest
/// excluded) was longer than the next one (Student's t at 95 %, one difference per round),
/// otherwise "undecided: ...".
std::string what_limits(const std::vector<TrialTimes>& trials);

/// Adds throughput_*_samples_per_s and the tables `ablation` and `waterfall`. `trials` has at least
/// one round.
void add_ablation(results::Run& run, const std::vector<TrialTimes>& trials);

/// Calls add_ablation() if a round is complete, and marks a run that a signal stopped.
void add_trials(results::Run& run, const ObservedRun& observed,
                const std::vector<TrialTimes>& trials);

}  // namespace ranklab::experiments
