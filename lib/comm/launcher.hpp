// The launcher of this process, read from its environment before MPI is initialised.
#pragma once

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

namespace ranklab::comm {

/// The value of an environment variable, or nullptr.
using Lookup = std::function<const char*(const char*)>;

struct LauncherView {
    /// "Open MPI's mpirun", "Slurm's srun", ...; "" if none was detected.
    std::string name;
    std::optional<int> world_size;  ///< processes that the launcher started
    std::optional<int> rank;
};

/// Detects the innermost launcher by its variables (kLaunchers): for mpirun inside a Slurm
/// allocation that is mpirun.
LauncherView read_launcher(const Lookup& lookup = std::getenv);

/// Commands that start ranks of this build's MPI library: "srun --mpi=pmix, or its own mpirun".
/// `launcher`: LauncherView::name of the launcher in use.
std::string own_launchers(const std::string& launcher = "");

/// Whether this process is one of several tasks of srun --mpi=none: Open MPI would abort in
/// MPI_Init. False with another MPI, which starts each task as a job of one rank.
bool is_step_without_pmi(const Lookup& lookup = std::getenv);

/// Whether MPI, PMI, PMIx or Slurm started this process, so that it may be a rank even if
/// read_launcher() finds no number of ranks.
bool has_task_environment(const Lookup& lookup = std::getenv);

}  // namespace ranklab::comm
