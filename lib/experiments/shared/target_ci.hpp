// --target-ci: decides how long an experiment measures, and stores the result in the run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "measure/convergence.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// The option's text, if it was given.
using TargetCi = std::optional<std::string>;

/// Returns the check for `target`. Without a target, checks are never due.
measure::Convergence convergence_of(const TargetCi& target, std::int64_t least);

/// Returns the most samples to measure: `least` without a target; with a target 20 times as many,
/// or any number if --time-limit ends the run.
std::int64_t most_samples(const TargetCi& target, bool has_time_limit, std::int64_t least);

/// Adds the table `convergence` with one row per check and the fact measuring.converged. If the
/// target was not reached although `least` samples were measured: adds a warning, and exit code 7
/// if the run has none. Does nothing without a target. The exit code is equal on all ranks.
void add_convergence(results::Run& run, const measure::Convergence& convergence,
                     const std::string& unit, std::int64_t least);

}  // namespace ranklab::experiments
