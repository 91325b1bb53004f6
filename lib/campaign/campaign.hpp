// A campaign: an INI file of several sweeps, run here or handed to Slurm's sbatch. docs/campaign.md
// is the manual of the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "campaign/sweep.hpp"

namespace ranklab::campaign {

/// The points of one section's sweep. Under Slurm a section becomes one job per number of nodes.
struct Job {
    std::string id;  ///< "strong", or "strong-4n"
    Sweep sweep;
    std::vector<std::string> words;  ///< what its batch script starts: "sweep", "train", ...
    int ranks = 1, nodes = 1, cores = 1;
    std::int64_t minutes = 0;
};

/// The keys of the section [campaign] in the file.
struct CampaignSettings {
    std::string name, folder, output, launcher_options;
    std::string launcher = "mpirun";
    int ranks_per_node = 0;  ///< 0: all on one node
    std::string partition, account, sbatch_options, prologue;
};

struct Campaign : CampaignSettings {
    std::filesystem::path file;  ///< the INI
    std::vector<Sweep> sweeps = {};
    std::vector<Job> jobs = {};
    /// The sweeps (by index) with the key `worth`, and its value: the least speedup of a section's
    /// best point over the best point of the same program's other sections.
    std::vector<std::pair<std::size_t, double>> questions = {};

    bool slurm() const { return launcher == "slurm"; }
};

/// Throws OptionError with file, section and key for an invalid entry.
Campaign read_campaign(const std::filesystem::path& file);

/// The batch script, with its #SBATCH lines.
std::string script_of(const Campaign& campaign, const Job& job);

inline constexpr const char* kNoAnswer =
    "Slurm does not answer (squeue), so the queue is unknown; try again later";
/// Slurm's state of each queued job, by the job's id: "RUNNING", "PENDING (Priority)". nullopt if
/// Slurm does not answer.
using Queue = std::optional<std::map<std::string, std::string>>;
Queue queue_of(const Campaign& campaign);

/// Submits the jobs that lack runs and are not in the queue, and returns their number. Throws
/// EnvironmentError if Slurm does not answer or refuses a job.
int submit(const Campaign& campaign, const Say& say);
/// Cancels the campaign's jobs in the queue, and returns their number.
int cancel(const Campaign& campaign);

/// The question of each section with the key `worth`, and its answer with the measured ratio.
/// `ignore`: surroundings that may differ within a point.
std::vector<std::pair<std::string, std::string>> questions_of(
    const Campaign& campaign, const std::vector<std::string>& ignore = {});
/// The sections' verdicts, one per line, then the questions' answers.
std::string answers_text(const Campaign& campaign, const std::vector<std::string>& ignore = {});

/// The jobs, their stored runs and the next step. With `queue` also their state.
std::string plan_text(const Campaign& campaign, const Queue* queue = nullptr);
/// Plan and status as JSON.
std::string status_json(const Campaign& campaign, const Queue& queue);

}  // namespace ranklab::campaign
