// The common options, and what is answered without starting work: --help, --version, --list.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/manual.hpp"
#include "options/options.hpp"

namespace ranklab::app {

/// The options --help and --version.
struct HelpSettings {
    bool help = false, version = false;
};
/// --help --version, of every program.
void describe_help(options::Schema& schema);

/// Lines "  command  what it does". In a line too wide for a screen the description moves below.
std::string narrow_examples(const std::string& examples);

/// If the words end in `--help all`, prints all options and returns true.
bool answer_help_all(const std::vector<std::string>& words, const options::Schema& schema,
                     const ProgramText& text);
/// Prints help or version to stdout if asked for, and returns whether it did.
bool answer_help(const options::Options& options, const options::Schema& schema,
                 const ProgramText& text);

/// Runs a command without MPI: reads the words by the schema, answers --help and --version, or does
/// the work and returns its exit code.
int run_plain_command(const options::Schema& schema, const ProgramText& text,
                      const std::vector<std::string>& words,
                      const std::function<int(const options::Options&)>& work);

/// The main of such a program: its options by `describe`, its work by `work`.
int run_plain_program(int argc, char** argv, const ProgramText& text,
                      const std::function<void(options::Schema&)>& describe,
                      const std::function<int(const options::Options&)>& work);
/// Answers --help, --version, --list and --help-as before any verb of a program ("make mnist"), and
/// returns the exit code; nullopt without them.
std::optional<int> answer_early(const ProgramManual& program,
                                const std::vector<std::string>& words);
/// The error message for words that do not begin with a verb of the program.
std::string unknown_verb(const ProgramManual& program, const std::vector<std::string>& words);
/// Runs a program without MPI whose verbs have one word each, and adds --help to their schemas.
/// Answers early, or calls `work(verb, options, remaining words)`.
int run_verbs(ProgramManual program, const std::vector<std::string>& words,
              const std::function<int(const std::string&, const options::Options&,
                                      const std::vector<std::string>&)>& work);
/// Of --output FILE of reports, for ReportOutput.
inline constexpr const char* kReportOutputHelp =
    "write to this file instead of stdout; on failure the file is unchanged";

/// Returns the first that is given: --threads, `fallback` (0: none), OMP_NUM_THREADS; else 0, which
/// means the cores of the rank's cpuset, as far as its cgroup allows.
int threads_of(const std::optional<int>& asked, int fallback = 0);

std::vector<std::string> arguments_of(int argc, char** argv);
/// "ranklab train --steps 5", shell-quoted.
std::string command_line_of(const std::string& command, const std::vector<std::string>& words);

/// Whether this process prints for the job before MPI starts: it is the launcher's rank 0, or has
/// no launcher.
bool is_output_rank();

}  // namespace ranklab::app
