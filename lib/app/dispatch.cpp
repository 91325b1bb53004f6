#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "app/command_line.hpp"
#include "app/guarded.hpp"
#include "app/programs.hpp"
#include "app/version.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace ranklab::app {
namespace {

namespace fs = std::filesystem;

struct Command {
    const char* name;
    const char* summary;
};

constexpr Command kCommands[] = {
    {"train", "trains a network on one or many ranks and times every phase   (start with mpirun or srun)"},
    {"io", "writes the same numbers in ten ways, verified and timed         (alone, or with mpirun or srun)"},
    {"data", "makes, verifies and converts data sets                       (alone, or with mpirun or srun)"},
    {"doctor", "where each rank sits, what is wrong and how to mend it        (start with mpirun or srun)"},
    {"report", "what a results file holds: text, tables, one HTML page, plots, JSON, CSV and others"},
    {"compare", "is B different from A, with statistics; a gate for CI"},
    {"results", "checks, merges, exports, prunes and lists results files"},
};

void print_help() {
    fmt::print(
        "Usage: ranklab COMMAND [options]\n\nMeasures how a cluster computes, communicates and writes, on "
        "real work.\n\nCommands:\n");
    for (const auto& command : kCommands) fmt::print("  {:<8} {}\n", command.name, command.summary);
    fmt::print(
        "\nranklab COMMAND --help says more. To begin with:\n"
        "  mpirun -n 2 ranklab doctor\n"
        "  mpirun -n 2 ranklab train --batch-size 32 --steps 200\n"
        "  ranklab report results/ranklab.h5\n");
}

// Below these the loader itself fails, and LibTorch before main().
constexpr std::uint64_t kAddressSpace = std::uint64_t{192} << 20U;
constexpr std::uint64_t kAddressSpaceOfTraining = std::uint64_t{1} << 30U;

[[noreturn]] void replace_by(const std::string& name, char** argv) {
    const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / ("ranklab-" + name);
    if (!fs::exists(program)) {
        throw base::EnvironmentError(fmt::format(
            "{} is not there: this build was made without it (train needs LibTorch: RANKLAB_WITH_TORCH)",
            program.string()));
    }
    require_address_space_once(name == "train" ? kAddressSpaceOfTraining : kAddressSpace);
    execv(program.c_str(), argv);
    throw base::EnvironmentError(
        fmt::format("{} cannot be started: {}", program.string(), std::strerror(errno)));
}

}  // namespace

int dispatch(int argc, char** argv) {
    return guarded([&] {
        const std::string word = argc > 1 ? argv[1] : "--help";
        if (word == "--version") {
            if (speaks_for_job()) fmt::print("{}\n{}\n", version_line(), build_features());
            return 0;
        }
        if (word == "--help" || word == "-h" || word == "help") {
            if (speaks_for_job()) print_help();
            return argc > 1 ? 0 : static_cast<int>(base::ExitCode::usage);
        }
        std::vector<std::string> names;
        for (const auto& command : kCommands) {
            if (word == command.name) replace_by(word, argv + 1);
            names.emplace_back(command.name);
        }
        leave_speaking_to_rank_0(base::ExitCode::usage);
        const auto near = base::nearest(word, names);
        throw base::OptionError(
            fmt::format("unknown command '{}'{}", word,
                        near ? fmt::format("; did you mean {}?", *near) : "; ranklab --help lists them all"));
    });
}

}  // namespace ranklab::app
