// The commands of the programs. Answers --help, --version and --list without starting work.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "options/options.hpp"

namespace ranklab::app {

using Words = std::vector<std::string>;

struct ProgramText {
    std::string command;  ///< "train"
    std::string usage;    ///< what follows "ranklab train" in the usage line
    std::string summary;
    std::string examples = {};  ///< command lines as --help prints them, for 80 columns
};

/// Read the texts of all commands, or of one that exists, from templates/commands.txt.
std::vector<ProgramText> program_texts();
ProgramText text_of_command(const std::string& command);

/// A command, or a sub-command ("data make mnist").
struct Command {
    ProgramText text;
    options::Schema schema;
    /// Runs a command that needs no MPI; returns the exit code. `words`: the command line.
    std::function<int(const options::Options& given, const Words& words)> work = {};
};

/// A program with sub-commands, here called verbs.
struct CommandGroup {
    std::string command;  ///< "data"; "" for ranklab itself
    std::string summary;
    std::string usage;  ///< after "ranklab data COMMAND"
    std::vector<Command> verbs;
};

/// Adds --help and --version.
void describe_help(options::Schema& schema);
/// Help of --output FILE, which write_report() takes.
inline constexpr const char* kReportOutputHelp =
    "write to this file instead of stdout; on failure the file is unchanged";

/// Parses the words. Returns nullopt if they ask for help or version, which are then printed.
/// Throws OptionError if positional arguments are missing (Schema::positional).
std::optional<options::Options> parse_or_answer(const Command& command, const Words& words);

/// Runs a command without MPI: parses its words, then prints help or does the work.
int run_plain_command(const Command& command, const Words& words);
/// The main of a program that is one command without MPI. Adds --help and --version.
int run_plain_program(int argc, char** argv, Command command);
/// The main of a program with verbs: answers --help, --version and --list before any verb, or calls
/// `start` with the verb and the words after it.
int run_verbs(const CommandGroup& program, const Words& words,
              const std::function<int(const Command&, const Words&)>& start = run_plain_command);

/// Returns the first that is given: --threads, `fallback` (0: none), OMP_NUM_THREADS; else 0, which
/// means the cores of the rank's cpuset, or fewer if its cgroup has a CPU quota.
int threads_of(const std::optional<int>& asked, int fallback = 0);

Words arguments_of(int argc, char** argv);
/// "ranklab train --steps 5", shell-quoted.
std::string command_line_of(const std::string& command, Words words);

/// True for the process that prints for the job before MPI starts: the launcher's rank 0, or one
/// without a launcher.
bool is_output_rank();
void print_version();

}  // namespace ranklab::app
