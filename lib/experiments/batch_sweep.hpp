// One command, several training runs: each global batch with each scaling of the learning rate. No torch in
// here.
#pragma once

#include <vector>

#include "experiments/experiment.hpp"
#include "options/options.hpp"

namespace ranklab::experiments {

void describe_sweep(options::Schema& schema);

/// --sweep-global-batch x --sweep-lr-scaling, in the order given; empty without them. OptionError for what is
/// no list of them, or for an option that several runs cannot share.
std::vector<Variant> sweep_variants(const options::Options& options);

/// The table `variants`: a row per run, with its rates, steps, samples, time and losses of the last epoch.
results::Table sweep_table(const std::vector<results::Run>& runs);

}  // namespace ranklab::experiments
