// Starts a command on several ranks, by mpirun or, inside an allocation of Slurm, by srun.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ranklab::campaign {

/// Hosts and cores that commands can be started on: those of Slurm's allocation, or this host's.
struct Machine {
    Machine(int hosts = 1, int cores_of_each = 1, bool by_slurm = false)
        : cores(static_cast<std::size_t>(hosts), cores_of_each), allocated(by_slurm) {}

    std::vector<int> cores;  ///< of each host
    bool allocated;          ///< by Slurm

    int hosts() const { return static_cast<int>(cores.size()); }
    int least_cores() const { return *std::min_element(cores.begin(), cores.end()); }
};
Machine this_machine();

/// "64(x2),32" in Slurm's variables: 64, 64, 32. Empty if the text is no such list.
std::vector<int> numbers_of_hosts(const std::string& text);

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
/// half a minute after `limit_s` (0: never), 15 s later by SIGKILL; and by SIGKILL 10 s after all
/// processes that the command has started. The command ends with this process, too. Passes a line
/// that srun has written while it waits to `waits`, once.
Ending run_logged(const std::vector<std::string>& words, const std::filesystem::path& log,
                  double limit_s, const std::function<void(const std::string&)>& waits);

/// The last non-empty lines, without mpirun's framed messages if the log has other lines.
std::string end_of_log(const std::filesystem::path& log, std::size_t lines);

}  // namespace ranklab::campaign
