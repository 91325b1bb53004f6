// Several strategies, worker counts or rank counts in one command, and the table that they end in.
#pragma once

#include <string>
#include <vector>

#include "experiments/shared/experiment.hpp"

namespace ranklab::experiments {

/// A run for each of --strategy, and of --ranks (parallel strategies) and --sweep-workers (process
/// strategies) with it; empty where all of them name one thing. With several strategies each has a folder of
/// its own.
std::vector<Variant> ladder_variants(const options::Options& options);

/// "binary: 0.0123 s at 1 rank(s), 812.3 MiB/s, read 1024 MiB/s (warm 100 %), verified"
std::string ladder_line(const results::Run& run);

/// The table `ladder`: a row per run.
///   job_time_s     median over repetitions of the slowest rank's open + write + close of the strategy; low_s
///   and
///                  high_s its 95 % interval (from 6 repetitions on)
///   speedup        job time of the base / job time: text-loop's, or of the first row where it was not run
///   over_previous  job time of the row before / job time
///   ceiling        what binds the strategy (table `ceilings` of its run), or "... (does not bind)" where it
///   was
///                  faster than that; percent_of_ceiling: what per cent of it it reaches
///   verified       yes, no (wrong values) or not verified;  mark: the run's warnings, and why its ceiling
///                  does not bind
///   read_MiBps     of the first reading; cache, fsync, file_system, directory: what it and the writing are
///   of
results::Table ladder_table(const std::vector<results::Run>& runs);

}  // namespace ranklab::experiments
