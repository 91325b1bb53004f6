// Slurm's commands, as far as a campaign needs them.
#pragma once

#include <optional>
#include <string>

#include "campaign/standing.hpp"

namespace ranklab::campaign {

/// What a job is called in the queue: unique to the campaign's folder.
std::string queue_name(const Campaign& campaign, const Job& job);

/// This user's jobs of the campaign that wait or run. Nothing where Slurm does not answer.
std::optional<Queue> slurm_queue(const Campaign& campaign);

/// Hands the job's script to sbatch and returns its number. EnvironmentError with Slurm's sentence.
std::string slurm_submit(const Campaign& campaign, const Job& job);

/// Lets a job start that Slurm holds back. Whether it took that is seen in the queue.
void slurm_release(const std::string& number);

void slurm_cancel(const std::vector<std::string>& numbers);

}  // namespace ranklab::campaign
