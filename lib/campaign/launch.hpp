// How a command is started on several ranks, by mpirun or by srun inside an allocation of Slurm.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ranklab::campaign {

/// Hosts and cores that commands can be started on: those of Slurm's allocation, or this host's.
struct Machine {
    int hosts = 1;
    int cores = 1;           ///< of a host
    bool allocated = false;  ///< by Slurm
};
Machine this_machine();

struct Launch {
    bool srun = false;
    bool cyclic = false;     ///< rank by rank over the hosts; otherwise host after host
    int ranks_per_node = 0;  ///< at most; 0: as many as there are cores for
    /// Whether mpirun binds ranks to cores; equal for all points, as numbers depend on it.
    bool bound = true;
    /// Launcher options that replace those for placing and binding ranks; empty: the default ones.
    std::vector<std::string> options = {};
};

/// The needs of one process of a point; cores and GPUs are each rank's.
struct Need {
    int ranks = 1, cores = 1;
    int gpus = 1;  ///< times as many as the allocation has for a task
};
/// Whether there are as many cores.
bool fits(const Machine& machine, const Need& need);
/// The launcher's words before the command.
std::vector<std::string> launch_words(const Launch& launch, const Machine& machine,
                                      const Need& need);

struct Ending {
    int code = 0;  ///< of a command that a signal ended: 128 + the signal
    double seconds = 0;
    bool timed_out = false;
};
/// Runs the command to its end, its output in `log`. A signal that this process has received
/// (StopSignals) is passed on as SIGUSR1, at which the ranks store what they have. Past `limit_s`
/// (0: never) and half a minute more, in which it may end by itself, the command is killed; also
/// when this process dies.
Ending run_logged(const std::vector<std::string>& words, const std::filesystem::path& log,
                  double limit_s);

/// The last lines that say something, outside of mpirun's blocks between bars where there are any.
std::string end_of_log(const std::filesystem::path& log, std::size_t lines);

}  // namespace ranklab::campaign
