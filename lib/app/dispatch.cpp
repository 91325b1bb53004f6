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
#include "base/terminal.hpp"
#include "base/text.hpp"

namespace ranklab::app {
namespace {

namespace fs = std::filesystem;

const Commands kCommands{
    {"train",
     "trains a network on one or many ranks and times every phase (start with mpirun or srun)"},
    {"io", "writes the same data in ten ways, verified and timed (alone, or with mpirun or srun)"},
    {"comm",
     "times collectives and messages over MPI and NCCL, verified (start with mpirun or srun)"},
    {"data", "makes, verifies and converts data sets (alone, or with mpirun or srun)"},
    {"doctor", "what is wrong with a launch, and the ranks' placement (start with mpirun or srun)"},
    {"report", "shows a results file: text, tables, one HTML page, plots, JSON, CSV and others"},
    {"compare", "is B different from A, with statistics; a gate for CI"},
    {"predict", "forecasts the time on more ranks, with intervals, or refuses with the reason"},
    {"sweep", "starts train, io or comm with each combination of values, and compares"},
    {"campaign", "runs the sweeps of an INI file, here or as jobs of Slurm"},
    {"results", "checks, merges, exports, prunes and lists results files"},
    {"completion",
     "prints the completion of these commands for a shell: completion bash, completion zsh"},
};

void print_help() {
    print(
        "Usage: ranklab COMMAND [options]\n\nMeasures how a cluster computes, communicates and "
        "writes, on real work.\n\nCommands:\n");
    for (const auto& [name, summary] : kCommands)
        print_text(base::wrapped(fmt::format("  {:<10} ", name), summary));
    print(
        "\nranklab COMMAND --help says more. To begin with:\n"
        "  mpirun -n 2 ranklab doctor\n"
        "  mpirun -n 2 ranklab train --batch-size 32 --steps 200\n"
        "  ranklab report results/ranklab.h5\n");
}

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
    for (const auto& [name, summary] : kCommands)
        if (const auto program = program_of(name); fs::exists(program))
            parts += said_by({program.string(), "--help-as", words.front()});
    print_text(completion_script(words.front(), kCommands, parts));
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
    return guarded([&] {
        const std::string word = argc > 1 ? argv[1] : "--help";
        if (word == "--version") {
            if (is_output_rank()) print_version();
            return 0;
        }
        if (word == "--help" || word == "-h" || word == "help") {
            if (is_output_rank()) print_help();
            return argc > 1 ? 0 : static_cast<int>(base::ExitCode::usage);
        }
        const auto words = arguments_of(argc, argv);
        if (word == "completion")
            return run_plain_command(completion_command(), {words.begin() + 1, words.end()});
        Words names;
        for (const auto& [name, summary] : kCommands) {
            if (word == name) replace_by(word, argv + 1);
            names.push_back(name);
        }
        const std::string near = base::did_you_mean(word, names);
        throw base::OptionError(fmt::format("unknown command '{}'; {}", word,
                                            near.empty() ? "ranklab --help lists them all" : near));
    });
}

}  // namespace ranklab::app
