#include <fmt/format.h>

#include <algorithm>

#include "app/command_line.hpp"
#include "app/process.hpp"
#include "app/templates.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace ranklab::app {
namespace {

using options::Option;

// A shell function with a command's options, words and values, for both shells:
// "_ranklab__data_make_mnist".
std::string function_of(const std::string& command, const std::string& options,
                        const std::string& words, const std::string& values = "") {
    std::string name = "_ranklab_" + (command.empty() ? "" : '_' + command);
    std::ranges::replace(name, ' ', '_');
    return fmt::format(
        "{}() {{\n  case $1 in\n    options) REPLY='words{}' ;;\n    words) REPLY='{}' ;;\n{}  "
        "esac\n}}\n",
        name, options, words, values);
}

std::string value_of(const Option& option) {
    if (option.placeholder.find("FILE") != std::string::npos || option.placeholder.ends_with(".h5"))
        return "files";
    if (option.placeholder == "DIR") return "folders";
    return option.choices.empty() ? "none" : "words " + base::join(option.choices, " ");
}

std::string function_of(const Command& part) {
    std::string names, values;
    for (const auto& option : part.schema.all()) {
        names += " --" + option.name;
        if (option.type == options::Type::flag) continue;
        const std::string shorthand =
            option.shorthand == 0 ? "" : fmt::format("|-{}", option.shorthand);
        values +=
            fmt::format("    --{}{}) REPLY='{}' ;;\n", option.name, shorthand, value_of(option));
    }
    return function_of(part.text.command, names,
                       part.schema.most_positional() > 0 ? "files" : "none", values);
}

// The function of a command that has sub-commands: "data", "data make".
std::string fork(const std::string& command, const Words& verbs) {
    return function_of(command, " --help --version", "words " + base::join(verbs, " "));
}

// The completion of the verbs' command lines, for bash and zsh.
std::string completion(const std::vector<Command>& verbs) {
    std::vector<std::pair<std::string, Words>> forks;
    std::string functions;
    for (const auto& part : verbs) {
        functions += function_of(part);
        const auto words = base::split(part.text.command, ' ');
        std::string before = words.front();
        for (std::size_t i = 1; i < words.size(); before += ' ' + words[i++]) {
            auto at = std::ranges::find(forks, before, [](const auto& one) { return one.first; });
            if (at == forks.end()) at = forks.insert(at, {before, {}});
            if (std::ranges::find(at->second, words[i]) == at->second.end())
                at->second.push_back(words[i]);
        }
    }
    std::string all;
    for (const auto& [command, names] : forks) all += fork(command, names);
    return all + functions;
}

}  // namespace

std::string completion_script(const std::string& shell, const Words& commands,
                              const std::string& parts) {
    std::string programs = "ranklab";
    for (const auto& name : commands)
        if (name != "completion") programs += " ranklab-" + name;
    const char* const end =
        shell == "bash" ? "\ncomplete -F _ranklab {}\n"
                        : "\nif [[ $funcstack[1] == _ranklab ]]; then _ranklab \"$@\"; else "
                          "compdef _ranklab {}; fi\n";
    return std::string(template_text("driver." + shell)) + '\n' + fork("", commands) +
           fork("completion", {"bash", "zsh"}) + parts + fmt::format(fmt::runtime(end), programs);
}

bool answer_completion(const Words& words, const std::vector<Command>& verbs) {
    if (words.empty() || words.front() != "--help-as") return false;
    const auto& shell = words.back();
    if (shell != "bash" && shell != "zsh")
        throw base::OptionError(
            fmt::format("--help-as takes bash or zsh, not '{}'", base::printable(shell, 20)));
    print_text(completion(verbs));
    return true;
}

}  // namespace ranklab::app
