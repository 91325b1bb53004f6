#include "comm/launcher.hpp"

#include <mpi.h>

#include <algorithm>

#include "base/numbers.hpp"
#include "base/program.hpp"

namespace ranklab::comm {
namespace {

std::optional<int> number(const char* text) {
    const auto value = text == nullptr ? std::nullopt : base::number_in<int>(text);
    return value && *value >= 0 ? value : std::nullopt;
}

struct Names {
    const char* launcher;
    const char* size;
    const char* rank;
    const char* sign = nullptr;  // set by this launcher only, to tell it from others
};

// Innermost first: mpirun inside a Slurm allocation leaves Slurm's variables set. jsrun also sets
// Open MPI's variables, and several launchers set PMI's.
constexpr Names kLaunchers[] = {
    {"JSM's jsrun", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK"},
    {"Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"Hydra's mpiexec", "PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS"},  // of MPICH and Intel MPI
    {"Flux's flux run", "FLUX_JOB_SIZE", "FLUX_TASK_RANK"},
    // srun --mpi=cray_shasta also sets PALS's variables, srun --mpi=pmi2 PMI's.
    {"Slurm's srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "PALS_RANKID"},
    {"Slurm's srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "PMI_JOBID"},
    {"PALS's mpiexec", "PMI_SIZE", "PALS_RANKID"},
    {"a PMI launcher (mpiexec)", "PMI_SIZE", "PMI_RANK"},
    {"Slurm's srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
    {"Slurm's srun", "SLURM_NTASKS", "SLURM_PROCID"},
};

// Variables by which a process finds its PMI or PMIx server, and others that launchers set for each
// process.
constexpr const char* kPmiNames[] = {"PMIX_RANK", "PMIX_NAMESPACE", "PMI_RANK",
                                     "PMI_SIZE",  "PMI_FD",         "PMI_ID"};
constexpr const char* kTaskNames[] = {"SLURM_STEP_ID", "ALPS_APP_PE", "MV2_COMM_WORLD_RANK",
                                      "OMPI_COMM_WORLD_SIZE"};

}  // namespace

LauncherView read_launcher(const Lookup& lookup) {
    for (const auto& names : kLaunchers) {
        const auto size = number(lookup(names.size));
        const auto rank = number(lookup(names.rank));
        const bool signed_by = names.sign == nullptr || lookup(names.sign) != nullptr;
        if (signed_by && size && rank && *size > 0) return {names.launcher, size, rank};
    }
    return {};
}

std::string own_launchers(const std::string& launcher) {
#ifdef OPEN_MPI
    const bool pmix = true;
#else
    const bool pmix = false;
#endif
    const auto* const words = launcher.starts_with("Flux")
                                  ? (pmix ? "flux run -o pmi=pmix" : "flux run -o pmi=simple")
                                  : (pmix ? "srun --mpi=pmix" : "srun --mpi=pmi2");
    return std::string(words) + ", or its own " + base::mpirun();
}

// False unless MPI is Open MPI: others start each task as a job of one rank, which the launch guard
// reports.
bool is_step_without_pmi([[maybe_unused]] const Lookup& lookup) {
#ifdef OPEN_MPI
    const auto is_set = [&](const char* name) { return lookup(name) != nullptr; };
    return is_set("SLURM_STEP_ID") && is_set("SLURM_PROCID") &&
           number(lookup("SLURM_STEP_NUM_TASKS")).value_or(1) > 1 &&
           !is_set("OMPI_COMM_WORLD_RANK") && !std::ranges::any_of(kPmiNames, is_set);
#else
    return false;
#endif
}

bool has_task_environment(const Lookup& lookup) {
    const auto is_set = [&](const char* name) {
        return name != nullptr && lookup(name) != nullptr;
    };
    const auto is_seen = [&](const Names& names) {
        return is_set(names.rank) || is_set(names.sign);
    };
    return std::ranges::any_of(kLaunchers, is_seen) || std::ranges::any_of(kPmiNames, is_set) ||
           std::ranges::any_of(kTaskNames, is_set);
}

}  // namespace ranklab::comm
