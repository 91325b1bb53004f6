// The share of its job that a run used, as seff tells it of a Slurm job: from the table `job_use`.
#pragma once

#include <string>

#include "results/run.hpp"

namespace ranklab::report::model {

/// "97 % of 2 CPUs for 14.2 s (waiting in MPI counts), 812 MiB of memory"; "" where nothing is known.
std::string use_text(const results::Run& run);

}  // namespace ranklab::report::model
