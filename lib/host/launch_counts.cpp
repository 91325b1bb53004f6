#include "host/launch_counts.hpp"

#include <fmt/format.h>

#include "base/mpirun.hpp"

namespace ranklab::host {

std::optional<Finding> check_connected(int world_size, const std::string& launcher,
                                       std::optional<int> launched, std::optional<int> expected,
                                       const std::string& mend) {
    if (expected) {
        if (*expected == world_size) return std::nullopt;
        return Finding{"ranks-not-connected",
                       true,
                       fmt::format("{} were expected, but MPI connects {} rank{}", *expected, world_size,
                                   world_size == 1 ? "" : "s"),
                       "check the launcher's count and that it belongs to the MPI library of this build",
                       {fmt::format("expect-ranks {}", *expected)}};
    }
    if (!launched || *launched == world_size) return std::nullopt;
    return Finding{
        "ranks-not-connected",
        true,
        fmt::format("{} speaks of {} processes, but MPI connects {} rank{}: they would each run alone and "
                    "print wrong numbers",
                    launcher, *launched, world_size, world_size == 1 ? "" : "s"),
        fmt::format("start with the launcher of this build's MPI library ({}), or say that you expect this",
                    mend),
        {fmt::format("expect-ranks {}", world_size)}};
}

std::optional<Finding> check_slurm_counts(int world_size, const std::string& launcher, std::optional<int> job,
                                          std::optional<int> step) {
    if (launcher.empty() || launcher.find("srun") != std::string::npos) return std::nullopt;
    if (step && *step < world_size)
        return Finding{
            "more-ranks-than-step", false,
            fmt::format(
                "{} started {} ranks inside a step of Slurm with {} task{}: they share the cores that "
                "the step was given",
                launcher, world_size, *step, *step == 1 ? "" : "s"),
            fmt::format("start them by srun --ntasks={0}, or call {1} from the batch script or from salloc "
                        "--ntasks={0}, not inside srun",
                        world_size, base::mpirun())};
    if (step || !job || *job == world_size) return std::nullopt;
    const bool idle = *job > world_size;
    return Finding{"slurm-tasks-differ", false,
                   fmt::format("Slurm was asked for {} tasks, and {} started {} rank{}: {}", *job, launcher,
                               world_size, world_size == 1 ? "" : "s",
                               idle ? "cores of the job have nothing to do, and ranks may not lie as planned"
                                    : "ranks share cores, or do not lie as planned"),
                   fmt::format("start {} ranks, or ask for --ntasks={}", *job, world_size)};
}

}  // namespace ranklab::host
