// Which memory format a training computes in: the one that is asked for, or the one that a trial of both
// finds faster.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "results/run.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::experiments {

struct RunContext;
struct TrainingOptions;

/// Seconds of a step of forward and backward, the slowest rank's.
struct FormatRound {
    double contiguous = 0;
    double channels_last = 0;
};

struct FormatChoice {
    std::string asked;                     ///< as the option's values
    bool open = false;                     ///< to be decided before the warm-up
    bool channels_last = false;            ///< what is taken
    std::string why;                       ///< a clause
    std::vector<FormatRound> rounds = {};  ///< of the trial; none: there was none
    double trial_s = 0;                    ///< that the trial took in this run
};

/// What decides whether there is anything to try.
struct FormatFacts {
    bool convolves = true;
    bool computes = true;
    bool cuda_graph = false;
    bool breaks = false;  ///< channels-last would: see nn::Outline
};

/// Of --memory-format and --channels-last; where it is not open, it is settled in `settings`. OptionError for
/// channels-last that would break.
FormatChoice settle_format(vocabulary::TrainingSettings& settings, const FormatFacts& facts);

/// Channels-last where it was faster in every round, and in the median by more than a margin; contiguous
/// where the two are alike, so that runs of noisy machines take one format.
FormatChoice chosen_by(std::vector<FormatRound> rounds);

/// Seconds after which the trial leaves a slow model as it is; a tenth of a --time-limit, if that is less.
inline constexpr double kLongestTrial = 30;

/// Tries both in turns, so that a machine that slows down slows both. `step`: the seconds of a step in
/// channels-last (true) or contiguous, the same on all ranks. Up to five rounds and one that warms up; no
/// further one after a sixth of `longest` seconds, and then the warm-up counts where there is nothing else. A
/// first step that takes longer than `longest` is the only one.
FormatChoice try_formats(const std::function<double(bool)>& step, double longest = kLongestTrial);

/// Collective; the same on all ranks but for the time that the trial took. It has a model, a batch
/// and gradients of its own and makes no optimizer's step; it draws from LibTorch's default generators.
/// `samples`: of the training, on all ranks.
FormatChoice trial_choice(const TrainingOptions& options, const RunContext& around, std::int64_t samples,
                          c10::Device device);

/// What was asked, what was taken and why, as facts of the run.
void add_format(results::Run& run, const FormatChoice& choice);

}  // namespace ranklab::experiments
