// One command, several training runs: each number of ranks, threads and loader threads with each batch, each
// gradient sync and each scaling of the learning rate, each several times. No torch in here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/shared/experiment.hpp"
#include "options/options.hpp"

namespace ranklab::experiments {

/// The strategies that --sync names, each once, in the order given; none where it is not given. OptionError
/// for one that is not among `known`; empty `known`: not looked at.
std::vector<std::string> chosen_syncs(const options::Options& options, const std::vector<std::string>& known);

/// --repetitions x --ranks x --threads x --workers x --batch-size x --sync x --sweep-global-batch x
/// --sweep-lr-scaling, each where it has several values, in the order given; empty without them. Repetition r
/// begins in round r. With --ranks there is one variant at least, and --scaling strong gives each the batch
/// of a rank. `usual_batch`: of a rank, where nobody gives one. OptionError for what is no list of them, for
/// a batch that the ranks cannot share, or for an option that several runs cannot share.
std::vector<Variant> sweep_variants(const options::Options& options, std::int64_t usual_batch);

/// The table `variants`: a row per run, with its rates, steps, samples, time, step time and losses of the
/// last epoch; `mark` is its warnings.
results::Table sweep_table(const std::vector<results::Run>& runs);

/// The table `repetitions`: a row per variant that was trained several times. n valid runs; step_time_s is
/// the median over runs of their medians, low_s and high_s its interval over runs (from 6 on). No columns
/// where nothing was repeated.
results::Table repetitions_table(const std::vector<results::Run>& runs);

/// "bucketed, global batch 64: 0.0123 s a step, 5203 samples/s"; "" for a run without steps.
std::string variant_line(const results::Run& run);

}  // namespace ranklab::experiments
