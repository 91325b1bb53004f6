// How long experiments measure, and what of it the run says. No torch in here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "measure/convergence.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// The option's text, where it was given.
using TargetCi = std::optional<std::string>;

/// One that wants nothing where there is no target.
measure::Convergence convergence_of(const TargetCi& target, std::int64_t least);

/// The most samples of a measurement that has `least` of them: with a target 20 times as many, or,
/// where --time-limit ends it, any number.
std::int64_t most_samples(const TargetCi& target, bool has_time_limit, std::int64_t least);

/// Adds the table `convergence` with a row per look, the fact measuring.converged, and where the
/// target was not reached a warning and exit code 7 (unless there is another). `least` samples were
/// planned: with fewer another verdict decides. The exit code is equal on all ranks. Does nothing
/// without a target.
void add_convergence(results::Run& run, const measure::Convergence& convergence,
                     const std::string& unit, std::int64_t least);

}  // namespace ranklab::experiments
