// The table that several strategies in one command end in.
#pragma once

#include <vector>

#include "results/run.hpp"

namespace ranklab::experiments {

/// The table `ladder`: a row per run. Speedups are over text-loop, or the first row where it was not run.
results::Table ladder_table(const std::vector<results::Run>& runs);

/// A run of its own that holds this table. `asked`: strategies; `signal`: 0 where none ended them.
results::Run compared(const std::vector<results::Run>& runs, std::size_t asked, int signal);

}  // namespace ranklab::experiments
