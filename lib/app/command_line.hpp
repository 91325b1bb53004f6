// The common options, and what is answered without starting work: --help, --version, --list.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "options/options.hpp"

namespace ranklab::app {

/// --config --output --label --warmup --seed --threads --time-limit ... of the MPI programs.
void describe_common(options::Schema& schema);
/// --help --version, of every program.
void describe_help(options::Schema& schema);

struct ProgramText {
    std::string command;  ///< "train"
    std::string usage;    ///< what follows "ranklab train" in the usage line
    std::string summary;
    std::string examples;  ///< indented command lines
};

/// Lines "  command  what it does": of one that is too wide for a screen what it does stands below
/// it.
std::string narrow_examples(const std::string& examples);

/// Prints every option where the words end in `--help all`, and says whether they do.
bool answer_help_all(const std::vector<std::string>& words, const options::Schema& schema,
                     const ProgramText& text);
/// Prints help or version to stdout if asked for, and says whether it did.
bool answer_help(const options::Options& options, const options::Schema& schema,
                 const ProgramText& text);

/// A command without MPI: reads the words by the schema, to which help is added, answers --help and
/// --version, or does the work and returns its exit code.
int run_plain_command(options::Schema& schema, const ProgramText& text,
                      const std::vector<std::string>& words,
                      const std::function<int(const options::Options&)>& work);

/// --threads; else `fallback`, where the program has one (0: none); else OMP_NUM_THREADS where it
/// is a number of threads; else 0: the cores of the rank's cpuset, as far as its cgroup allows.
int threads_of(const std::optional<int>& asked, int fallback = 0);

std::vector<std::string> arguments_of(int argc, char** argv);

/// True where this process should speak for the job before MPI is up: rank 0 by the launcher's
/// word, or no launcher.
bool speaks_for_job();

}  // namespace ranklab::app
