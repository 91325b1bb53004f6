#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "app/command_line.hpp"
#include "app/programs.hpp"
#include "base/error.hpp"
#include "base/program.hpp"

namespace ranklab::app {
namespace {

// All commands, each with the example that the help shows.
const ProgramText kCommands[] = {
    {"train", "",
     "trains a network on one or many ranks and times every phase (start with mpirun or srun)",
     "  mpirun -n 2 ranklab train --batch-size 32 --steps 200\n"},
    {"io", "",
     "writes the same data in ten ways, verified and timed (alone, or with mpirun or srun)"},
    {"comm", "",
     "times collectives and messages over MPI and NCCL, verified (start with mpirun or srun)"},
    {"data", "", "makes, verifies and converts data sets (alone, or with mpirun or srun)"},
    {"doctor", "",
     "shows what is wrong with a launch, and the ranks' placement (start with mpirun or srun)",
     "  mpirun -n 2 ranklab doctor\n"},
    {"report", "", "shows a results file: text, tables, one HTML page, plots, JSON, CSV and others",
     "  ranklab report results/ranklab.h5\n"},
    {"compare", "", "tests whether B differs from A, with statistics; a gate for CI"},
    {"predict", "", "forecasts the time on more ranks, with intervals, or refuses with the reason"},
    {"sweep", "",
     "starts train, io or comm with each combination of values, and compares the runs"},
    {"campaign", "", "runs the sweeps of an INI file, here or as jobs of Slurm"},
    {"vet", "",
     "finds the slow node, GPU or link of an allocation, and prints the --exclude= line"},
    {"results", "", "checks, merges, exports and lists results files"},
};

[[noreturn]] void replace_by(const std::string& command, char** argv) {
    const auto program = base::program_beside("ranklab-" + command);
    if (!std::filesystem::exists(program)) {
        throw base::EnvironmentError(
            fmt::format("{} is not in this build; build it (train needs LibTorch: "
                        "RANKLAB_WITH_TORCH)",
                        program.string()));
    }
    execv(program.c_str(), argv);
    throw base::EnvironmentError(
        fmt::format("{} cannot be started: {}", program.string(), std::strerror(errno)));
}

}  // namespace

int dispatch(int argc, char** argv) {
    CommandGroup all{"",
                     "Measures how a cluster computes, communicates and writes, on real work.",
                     "[options]",
                     {}};
    for (const auto& text : kCommands) all.verbs.push_back({text, {}});
    const auto start = [&](const Command& verb, const Words&) -> int {
        replace_by(verb.text.command, argv + 1);
    };
    return run_verbs(all, arguments_of(argc, argv), start);
}

}  // namespace ranklab::app
