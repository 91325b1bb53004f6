// Completions for the shells, from the rows of --help. Each program prints its own with `--help-as
// bash|zsh`; `ranklab completion` and the installation join them.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "options/schema.hpp"

namespace ranklab::app {

struct ProgramText {
    std::string command;  ///< "train"
    std::string usage;    ///< what follows "ranklab train" in the usage line
    std::string summary;
    std::string examples;  ///< indented command lines
};

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

/// The completion script of a shell for all commands; `parts` are the programs' own parts.
using Commands = std::vector<std::pair<std::string, std::string>>;
std::string completion_script(const std::string& shell, const Commands& commands,
                              const std::string& parts);

}  // namespace ranklab::app
