// The script of a job: what Slurm is handed, and what anybody may read and start by hand.
#pragma once

#include <filesystem>
#include <string>

#include "campaign/jobs.hpp"

namespace ranklab::campaign {

/// Bash. It does nothing where the job is done (ID.h5) or where another process has it (ID.claim), makes
/// ID.h5 of what the command has stored where that ends well and, as the last thing it does, ID.end with the
/// exit code. `ranklab` is the program to start; `folder` where relative paths of the settings begin.
std::string script_of(const Campaign& campaign, const Job& job, const std::filesystem::path& ranklab,
                      const std::filesystem::path& folder);

/// Writes the scripts of all jobs, each whole or not at all; EnvironmentError where they cannot be written.
void write_scripts(const Campaign& campaign, const std::vector<Job>& jobs);

/// What the job's script, as it lies there, measures other than the job does now: "it was ... and is now
/// ..."; "" where it is the same or there is no script.
std::string changed_words(const Campaign& campaign, const Job& job);

}  // namespace ranklab::campaign
