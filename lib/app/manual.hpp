// Completions for the shells, from the rows of --help. Each program prints its own with `--help-as
// bash|zsh`; `ranklab completion` and the installation join them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command_line.hpp"

namespace ranklab::app {

/// A command, or a verb of one ("data make mnist").
struct Manual {
    ProgramText text;
    options::Schema schema;
};

/// A program's commands: one, or a summary of several verbs.
struct ProgramManual {
    std::string command;  ///< "data"
    std::string summary;
    std::vector<Manual> parts;
    std::string usage = "[options]";  ///< after "ranklab data COMMAND"
};

/// For a program that is one command.
inline ProgramManual manual_of(const ProgramText& text, const options::Schema& schema) {
    return {text.command, text.summary, {{text, schema}}};
}

/// The completion of a program's command lines, for bash and zsh.
std::string completion(const ProgramManual& program);

/// Answers --help-as; returns false without it.
bool answer_manual(const std::vector<std::string>& words,
                   const std::function<ProgramManual()>& program);

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

/// The completion script of a shell for all commands; `parts` are the programs' own parts.
using Commands = std::vector<std::pair<std::string, std::string>>;
std::string completion_script(const std::string& shell, const Commands& commands,
                              const std::string& parts);

}  // namespace ranklab::app
