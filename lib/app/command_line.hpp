// The common options, and what is answered without starting work: --help, --version, --list.
#pragma once

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

/// Prints help or version to stdout if asked for, and says whether it did.
bool answer_help(const options::Options& options, const options::Schema& schema, const ProgramText& text);

std::vector<std::string> arguments_of(int argc, char** argv);

/// True where this process should speak for the job before MPI is up: rank 0 by the launcher's word, or no
/// launcher.
bool speaks_for_job();

}  // namespace ranklab::app
