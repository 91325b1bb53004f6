// A campaign: an INI file of several sweeps, run here or handed to Slurm's sbatch. docs/campaign.md
// is the manual of the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "campaign/sweep.hpp"

namespace ranklab::campaign {

/// One job: a section of the file, or under Slurm its points that need as many nodes.
struct Job {
    std::string id;  ///< "strong", or "strong-4n"
    Sweep sweep;
    std::vector<std::string> words;  ///< "sweep", "train", ...: what its batch script starts
    int ranks = 1, nodes = 1, cores = 1;
    std::int64_t minutes = 0;
};

struct Campaign {
    std::string name;
    std::filesystem::path file;    ///< the INI
    std::filesystem::path folder;  ///< scripts, logs and files that are written
    std::filesystem::path output;
    bool slurm = false;
    int ranks_per_node = 0;
    std::string partition, account;  ///< "" where the site needs none
    std::string sbatch_options;
    std::string prologue;  ///< a shell line before each job: "module load gcc openmpi"
    std::vector<Sweep> sweeps;
    std::vector<Job> jobs;
};

/// OptionError with file, section and key for whatever the file should not hold.
Campaign read_campaign(const std::filesystem::path& file);

/// Bash, with the lines that sbatch reads.
std::string script_of(const Campaign& campaign, const Job& job);

/// Slurm's state of each job in its queue, by the job's id: "RUNNING", "PENDING (Priority)".
/// nullopt where Slurm does not answer.
std::optional<std::map<std::string, std::string>> queue_of(const Campaign& campaign);

/// Submits with sbatch the jobs that lack runs and are not in the queue. EnvironmentError where
/// Slurm does not answer or refuses one of them.
int submit(const Campaign& campaign, const Say& say);
/// Takes the campaign's jobs out of the queue; how many.
int cancel(const Campaign& campaign);

std::string plan_text(const Campaign& campaign);
std::string status_text(const Campaign& campaign);
/// Both, for other programs.
std::string status_json(const Campaign& campaign);

}  // namespace ranklab::campaign
