// Starts a command on several ranks, by mpirun or, inside an allocation of Slurm, by srun.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ranklab::campaign {

/// Hosts and cores that commands can be started on: those of Slurm's allocation, or this host's.
struct Machine {
    int hosts = 1;
    int cores = 1;           ///< per host
    bool allocated = false;  ///< by Slurm
};
Machine this_machine();

struct Launch {
    bool srun = false;
    bool cyclic = false;     ///< place ranks round-robin over hosts; otherwise fill host after host
    int ranks_per_node = 0;  ///< maximum; 0: as many as the cores allow
    /// Whether mpirun binds ranks to cores; equal for all points of a sweep, which are compared.
    bool bound = true;
    /// The user's launcher options; if not empty, they replace ranklab's for placing and binding.
    std::vector<std::string> options = {};
};

/// What one command of a sweep needs; cores are per rank.
struct Need {
    int ranks = 1, cores = 1;
    int gpus = 1;  ///< per rank, in multiples of SLURM_GPUS_PER_TASK
};
/// Whether the machine has enough cores.
bool fits(const Machine& machine, const Need& need);
/// The launcher and its options, to be put before the command.
std::vector<std::string> launch_words(const Launch& launch, const Machine& machine,
                                      const Need& need);

struct Ending {
    int code = 0;  ///< exit code; 128 + N if signal N ended the command
    double seconds = 0;
};
/// Runs the command with its output in `log`, and waits for its end. Passes on a received signal
/// (StopSignals) as SIGUSR1, at which the ranks store what they have. Ends the command by SIGTERM
/// half a minute after `limit_s` (0: never), 15 s later by SIGKILL. The command ends with this
/// process, too.
Ending run_logged(const std::vector<std::string>& words, const std::filesystem::path& log,
                  double limit_s);

/// The last non-empty lines, without mpirun's framed messages if the log has other lines.
std::string end_of_log(const std::filesystem::path& log, std::size_t lines);

}  // namespace ranklab::campaign
