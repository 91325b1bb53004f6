// The limit of a training run: trials without input, without communication, without either, and of
// input alone, in turns with the whole. waterfall() is a pure function.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.hpp"
#include "comm/communicator.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

class TrainingSteps;

/// io: batches are made and copied, nothing is computed. synthetic: the first batch, again and
/// again. nocomm: real input, nothing is sent. compute: synthetic and nocomm. full: all of it.
enum class Trial : std::size_t { io, synthetic, nocomm, compute, full };
inline constexpr std::array<std::string_view, 5> kTrialNames{"io", "synthetic", "nocomm", "compute",
                                                             "full"};

struct TrialTimes {
    Trial trial = Trial::full;
    std::vector<double> seconds;     ///< by rank, of the whole trial
    std::vector<double> step_times;  ///< this rank's
    std::int64_t steps = 0;
    std::int64_t samples = 0;  ///< of all ranks

    /// False where a stop came in it.
    bool all_steps() const { return static_cast<std::int64_t>(step_times.size()) == steps; }
    double longest() const;
    double mean() const;  ///< over ranks
    double rate() const { return static_cast<double>(samples) / longest(); }
};

struct AblationPlan {
    std::int64_t steps = 20;  ///< of a trial; one more comes first and is not timed
    std::int64_t trials = 3;  ///< of each kind, after one that is not kept
    std::uint64_t seed = 1;   ///< of the order within a round
};

/// Makes rounds of all kinds of trials, each round in another order, the same on all ranks. After a
/// stop signal it returns the whole rounds. At the end the ranks' training states are equal, if
/// they were before. Collective.
std::vector<TrialTimes> make_trials(TrainingSteps& steps, const AblationPlan& plan,
                                    comm::Communicator& control, base::ProgressSink& progress,
                                    StopPoll& stop);

/// One part of the mean step of the full trials.
struct Part {
    std::string part;
    /// Its share of the step; negative where leaving it out did not help.
    double step_s = 0;
    double percent = 0;        ///< of all parts that are positive
    double samples_per_s = 0;  ///< with this part and those above
    double lost = 0;           ///< samples/s, to the row above
};

/// The parts of the step, which add up to it. With T the step time (mean over trials of the longest
/// rank) and C the compute trials: compute = mean over ranks of C; imbalance = T(C) - compute;
/// communication = T(full) - T(nocomm); input = T(full) - T(synthetic); rest = the remainder: parts
/// that hide each other, or noise. `trials` holds at least one full and one compute trial (one
/// rank: synthetic is compute); where there was no nocomm, communication is 0.
std::vector<Part> waterfall(const std::vector<TrialTimes>& trials);

/// "compute limits: compute 97.1 %, input 2.0 %, ...": the largest part, but for the rest, where it
/// was clearly longer than the next one (Student's t on the differences, a value per round, 95 %);
/// otherwise "undecided: ...".
std::string what_limits(const std::vector<TrialTimes>& trials);

/// Adds throughput_*_samples_per_s and the tables `ablation` and `waterfall`, and a warning where a
/// kind of trial was not made. `trials` has at least one round.
void add_ablation(results::Run& run, const std::vector<TrialTimes>& trials);

/// The trials in benchy's JSON. EnvironmentError where `path` cannot be written.
void write_benchy_json(const std::string& path, const std::vector<TrialTimes>& trials);

/// To be called before the trials: they take long, and a bad place would be noticed only after
/// them. Throws OptionError where `path` is not a regular file, EnvironmentError where it cannot be
/// written.
void check_benchy_file(const std::string& path);

}  // namespace ranklab::experiments
