// What the launcher says of this process, read from its environment before MPI is initialised.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace ranklab::comm {

struct LauncherView {
    std::string name;               ///< "Open MPI's mpirun", "Slurm's srun", ...; "" if none is seen
    std::optional<int> world_size;  ///< how many processes it started
    std::optional<int> rank;
};

/// The nearest launcher: JSM (JSM_NAMESPACE_SIZE), Open MPI (OMPI_COMM_WORLD_SIZE), Hydra (PMI_SIZE beside
/// MPI_LOCALNRANKS), Flux (FLUX_JOB_SIZE), PALS (PMI_SIZE beside PALS_RANKID), another PMI (PMI_SIZE), then
/// Slurm (SLURM_STEP_NUM_TASKS, else SLURM_NTASKS beside SLURM_PROCID; a step that brings PMI along stands
/// before PMI). `lookup` returns nullptr for an unset name; std::getenv in the programs.
LauncherView read_launcher(const std::function<const char*(const char*)>& lookup);
LauncherView read_launcher();

/// What Slurm's environment says of tasks.
struct SlurmTasks {
    std::optional<int> job;   ///< SLURM_NTASKS
    std::optional<int> step;  ///< SLURM_STEP_NUM_TASKS, inside of srun
};
SlurmTasks read_slurm_tasks(const std::function<const char*(const char*)>& lookup);
SlurmTasks read_slurm_tasks();

/// How to start this build so that its MPI library connects the ranks: "srun --mpi=pmix, or its own mpirun".
/// `launcher` as of LauncherView::name: what the user starts with.
std::string own_launchers(const std::string& launcher = "");

/// One of several tasks of srun, which gave it nothing by which this build's MPI library finds the others
/// (srun --mpi=none): Open MPI ends such a process within MPI_Init, in words of its own. False in a build
/// for another MPI, which starts each as a process alone.
bool is_step_without_pmi(const std::function<const char*(const char*)>& lookup);
bool is_step_without_pmi();

/// Anything at all in the environment that a launcher gives to the processes it starts (MPI's, PMI's, PMIx's
/// or Slurm's): this may be one rank of a job even where read_launcher sees no count.
bool has_task_environment(const std::function<const char*(const char*)>& lookup);
bool has_task_environment();

}  // namespace ranklab::comm
