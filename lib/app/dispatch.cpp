#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "app/command_line.hpp"
#include "app/process.hpp"
#include "app/programs.hpp"
#include "base/error.hpp"
#include "base/program.hpp"
#include "base/text.hpp"

namespace ranklab::app {
namespace {

namespace fs = std::filesystem;

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
    {"results", "", "checks, merges, exports, prunes and lists results files"},
    {"completion", "",
     "prints the completion of these commands for a shell: completion bash, completion zsh"},
};

fs::path program_of(const std::string& command) {
    return base::program_beside("ranklab-" + command);
}

// A program's stdout. Throws EnvironmentError if it fails.
std::string said_by(const Words& arguments) {
    const std::string line = base::shell_quote(arguments);
    auto output = base::output_of(line);
    if (output.code != 0)
        throw base::EnvironmentError(fmt::format("{} failed; run it to see why", line));
    return std::move(output.text);
}

int print_completion(const options::Options& options) {
    const auto& words = options.positional();
    if (words.size() != 1 || (words.front() != "bash" && words.front() != "zsh"))
        throw base::OptionError(
            "give the shell: ranklab completion bash, or ranklab completion zsh");
    std::string parts;
    Words names;
    for (const auto& text : kCommands) {
        names.push_back(text.command);
        if (const auto program = program_of(text.command); fs::exists(program))
            parts += said_by({program.string(), "--help-as", words.front()});
    }
    print_text(completion_script(words.front(), names, parts));
    return 0;
}

Command completion_command() {
    Command command{
        {"completion", "bash|zsh", "Prints the completion of ranklab's command lines for a shell.",
         "  source <(ranklab completion bash)                          in this shell\n"
         "  ranklab completion zsh > DIR/_ranklab                      DIR is in $fpath\n"},
        {},
        [](const auto& given, const auto&) { return print_completion(given); }};
    describe_help(command.schema.positional(2));
    return command;
}

[[noreturn]] void replace_by(const std::string& name, char** argv) {
    const fs::path program = program_of(name);
    if (!fs::exists(program)) {
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
    const auto start = [&](const Command& verb, const Words& rest) {
        if (verb.text.command == "completion") return run_plain_command(completion_command(), rest);
        replace_by(verb.text.command, argv + 1);
    };
    return run_verbs(all, arguments_of(argc, argv), start);
}

}  // namespace ranklab::app
