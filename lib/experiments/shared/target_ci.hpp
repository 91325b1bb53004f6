// How long experiments measure, and what of it the run says. No torch in here.
#pragma once

#include <cstdint>
#include <string>

#include "measure/convergence.hpp"
#include "options/options.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// Of the options; one that wants nothing where --target-ci is not given.
measure::Convergence convergence_of(const options::Options& options, std::int64_t least);

/// How many samples there are at most, where there are at least that many: with a target 20 times as many,
/// or, where --time-limit ends it, as many as come.
std::int64_t most_samples(const options::Options& options, std::int64_t least);

/// The table `convergence` with a row per look, the fact measuring.converged, and where the target was not
/// reached a warning and exit code 7 (unless there is another). `least` samples are what was planned: fewer
/// are another verdict's matter. The same exit code on all ranks. Nothing where nothing was asked for.
void add_convergence(results::Run& run, const measure::Convergence& convergence, const std::string& unit,
                     std::int64_t least);

}  // namespace ranklab::experiments
