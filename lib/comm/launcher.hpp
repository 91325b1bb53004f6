// The launcher of this process, read from its environment before MPI is initialised.
#pragma once

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

namespace ranklab::comm {

/// The value of a variable; nullptr where it is not set.
using Lookup = std::function<const char*(const char*)>;

struct LauncherView {
    /// "Open MPI's mpirun", "Slurm's srun", ...; "" if none is seen.
    std::string name;
    std::optional<int> world_size;  ///< how many processes it started
    std::optional<int> rank;
};

/// The nearest launcher: JSM (JSM_NAMESPACE_SIZE), Open MPI (OMPI_COMM_WORLD_SIZE), Hydra (PMI_SIZE
/// with MPI_LOCALNRANKS), Flux (FLUX_JOB_SIZE), PALS (PMI_SIZE with PALS_RANKID), another PMI
/// (PMI_SIZE), then Slurm (SLURM_STEP_NUM_TASKS, else SLURM_NTASKS with SLURM_PROCID; a step with
/// PMI comes before PMI).
LauncherView read_launcher(const Lookup& lookup = std::getenv);

/// How to start this build so that its MPI library connects the ranks: "srun --mpi=pmix, or its own
/// mpirun". `launcher`: the LauncherView::name of the user's launcher.
std::string own_launchers(const std::string& launcher = "");

/// Whether this is one of several tasks of srun without PMI (srun --mpi=none), which Open MPI would
/// end within MPI_Init. False with another MPI, which starts each as a single process.
bool is_step_without_pmi(const Lookup& lookup = std::getenv);

/// Whether a launcher of MPI, PMI, PMIx or Slurm started this process: it may be a rank of a job
/// even where read_launcher finds no count.
bool has_task_environment(const Lookup& lookup = std::getenv);

}  // namespace ranklab::comm
