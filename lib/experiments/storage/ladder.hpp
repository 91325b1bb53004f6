// The table that several strategies in one command end in.
#pragma once

#include <vector>

#include "results/run.hpp"

namespace ranklab::experiments {

/// The table `ladder`: a row per run.
///   job_time_s     median over repetitions of the slowest rank's open + write + close of the strategy;
///                  low_s and high_s its 95 % interval (from 6 repetitions on)
///   speedup        job time of the base / job time: text-loop's, or of the first row where it was not run
///   over_previous  job time of the row before / job time
///   ceiling        what binds the strategy (table `ceilings` of its run), or "... (does not bind)" where it
///                  was faster than that; percent_of_ceiling: what per cent of it it reaches
///   verified       yes, no (wrong values) or not verified;  mark: the run's warnings, and why its ceiling
///                  does not bind
///   read_MiBps     of the first reading; cache, fsync, file_system, directory: what it and the writing are
///   of
results::Table ladder_table(const std::vector<results::Run>& runs);

/// A run of its own that holds this table, the facts that all share, and warnings with how many runs have
/// them. `asked`: strategies; where fewer were finished, or `signal` (0: none) ended them, the first warning
/// says so.
results::Run compared(const std::vector<results::Run>& runs, std::size_t asked, int signal);

}  // namespace ranklab::experiments
