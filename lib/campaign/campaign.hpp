// What a campaign measures: an INI file of workloads, each a command at several rank counts. Read and
// checked before anything starts. docs/campaign.md is the manual of the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "options/schema.hpp"

namespace ranklab::campaign {

enum class Scaling {
    none,    ///< every job does what its settings say
    strong,  ///< the work of all ranks together stays: global-batch-size, files
    weak     ///< the work of each rank stays: batch-size; `files` is a rank's
};

using Settings = std::vector<std::pair<std::string, std::string>>;

/// One section of the file: jobs that differ in their ranks, in alternatives and in their repetition.
struct Workload {
    std::string name;     ///< the section's
    std::string command;  ///< "train" or "io"
    /// Options of the command, one list for each alternative, in their order.
    std::vector<Settings> choices = std::vector<Settings>(1);
    /// Of each choice: what tells it from the others, "dp-64"; "" where there is one alone.
    std::vector<std::string> distinct = std::vector<std::string>(1);
    Scaling scaling = Scaling::none;
    std::vector<int> ranks;
    int ranks_per_node = 0;    ///< 0: as many as there are ranks, all on one node
    int threads = 1;           ///< cores of each rank
    int repetitions = 1;       ///< of the job: a new process each
    std::int64_t minutes = 0;  ///< of a job at most
};

/// A question that a campaign answers: is one of its workloads so many times as fast as another one?
struct Question {
    std::string faster, than;  ///< names of workloads of one point each
    double above = 1;          ///< worth it where it is more than that many times as fast
};

/// How jobs are started.
enum class Launcher {
    slurm,   ///< sbatch and srun
    mpirun,  ///< one after the other, by this process
    dry      ///< not at all: their scripts are written, for reading and for starting by hand
};

struct Campaign {
    std::string name;
    std::filesystem::path file;    ///< the INI
    std::filesystem::path folder;  ///< scripts, logs, each job's results, states
    std::filesystem::path output;  ///< the one results file that `collect` writes
    Launcher launcher = Launcher::mpirun;
    std::string partition, account;           ///< "" where the site needs none
    std::vector<std::string> sbatch, mpirun;  ///< more words for the launchers
    std::string prologue;                     ///< a shell line before each job: "module load gcc openmpi"
    std::vector<Workload> workloads;
    std::optional<Question> question;
};

/// Reads the file. OptionError with file, section and key for whatever it should not hold; a key that no
/// option has gets the nearest one that there is.
Campaign read(const std::filesystem::path& file);

/// As they stand on the command line of that command ("train", "io").
std::vector<std::string> words_of(const std::string& command, const Settings& settings);

/// The keys of [campaign], and those that every workload has beside its command's options.
const options::Schema& campaign_keys();
const options::Schema& workload_keys();

}  // namespace ranklab::campaign
