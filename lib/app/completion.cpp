#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "app/manual.hpp"
#include "app/printing.hpp"
#include "app/templates.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace ranklab::app {
namespace {

using options::Option;
using options::Type;

// "_ranklab__data_make_mnist": how both shells call what knows of a command.
std::string node_of(const std::string& command) {
    std::string node = "_ranklab__" + command;
    std::ranges::replace(node, ' ', '_');
    return node;
}

bool takes_folder(const Option& option) {
    return option.placeholder == "DIR";
}
bool takes_file(const Option& option) {
    return option.placeholder.find("FILE") != std::string::npos || option.placeholder.ends_with(".h5");
}

// What follows `words` of the tree of verbs: "make" leads to "cosmology", "mnist".
using Verbs = std::vector<std::pair<std::string, std::string>>;  // and what each does
Verbs verbs_after(const ProgramManual& program, const std::string& words) {
    Verbs verbs;
    for (const auto& part : program.parts) {
        if (!part.text.command.starts_with(words + ' ')) continue;
        const auto rest = part.text.command.substr(words.size() + 1);
        const auto verb = rest.substr(0, rest.find(' '));
        if (std::ranges::none_of(verbs, [&](const auto& one) { return one.first == verb; }))
            verbs.emplace_back(verb, verb == rest ? part.text.summary : "");
    }
    return verbs;
}

// The nodes of the tree that lead to others: "data", "data make".
std::vector<std::string> forks_of(const ProgramManual& program) {
    std::vector<std::string> forks;
    for (const auto& part : program.parts) {
        const auto& command = part.text.command;
        for (auto space = command.find(' '); space != std::string::npos; space = command.find(' ', space + 1))
            if (const auto fork = command.substr(0, space); std::ranges::find(forks, fork) == forks.end())
                forks.push_back(fork);
    }
    return forks;
}

std::string names_of(const Verbs& verbs) {
    std::vector<std::string> names;
    for (const auto& [name, summary] : verbs) names.push_back(name);
    return base::join(names, " ");
}

std::string bash_value(const Option& option) {
    if (takes_file(option)) return "files";
    if (takes_folder(option)) return "folders";
    return option.choices.empty() ? "none" : "words " + base::join(option.choices, " ");
}

std::string bash_function(const Manual& part) {
    std::string names, values;
    for (const auto& option : part.schema.all()) {
        names += " --" + option.name;
        if (option.type == Type::flag) continue;
        const std::string shorthand = option.shorthand == 0 ? "" : fmt::format("|-{}", option.shorthand);
        values += fmt::format("    --{}{}) REPLY='{}' ;;\n", option.name, shorthand, bash_value(option));
    }
    return fmt::format(
        "{}() {{\n  case $1 in\n    options) REPLY='words{}' ;;\n    words) REPLY={} ;;\n{}  esac\n}}\n",
        node_of(part.text.command), names, part.schema.most_positional() > 0 ? "files" : "none", values);
}

std::string bash_fork(const std::string& node, const Verbs& verbs) {
    return fmt::format(
        "{}() {{\n  case $1 in\n    options) REPLY='words --help --version' ;;\n    words) REPLY='words {}' "
        ";;\n"
        "  esac\n}}\n",
        node, names_of(verbs));
}

// Within '...', where [ ] and : are of zsh's own grammar.
std::string zsh_text(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':') out += '\\';
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return out;
}

// Of which several can be given, with commas between them.
bool takes_list(const Option& option) {
    return option.type == Type::text && !option.choices.empty();
}

std::string zsh_value(const Option& option) {
    if (option.type == Type::flag) return "";
    const std::string words = base::join(option.choices, " ");
    const std::string action = takes_file(option)       ? "_files"
                               : takes_folder(option)   ? "_files -/"
                               : takes_list(option)     ? "_sequence compadd - " + words
                               : option.choices.empty() ? " "
                                                        : '(' + words + ')';
    return fmt::format(":{}:{}", option.choices.empty() ? zsh_text(option.placeholder) : option.name, action);
}

std::string zsh_specs(const Option& option) {
    const std::string rest = fmt::format("[{}]{}", zsh_text(option.help), zsh_value(option));
    const char* const equals = option.type == Type::flag ? "" : "=";
    const char* const again = option.type == Type::texts ? "*" : "";
    if (option.shorthand == 0) return fmt::format("    '{}--{}{}{}' \\\n", again, option.name, equals, rest);
    const std::string both = fmt::format("(-{} --{})", option.shorthand, option.name);
    return fmt::format("    '{0}-{1}{2}' \\\n    '{0}--{3}{4}{2}' \\\n", both, option.shorthand, rest,
                       option.name, equals);
}

std::string zsh_function(const Manual& part) {
    std::string specs;
    for (const auto& option : part.schema.all()) specs += zsh_specs(option);
    return fmt::format("{}() {{\n  _arguments -s -S \\\n{}    '{}'\n}}\n", node_of(part.text.command), specs,
                       part.schema.most_positional() > 0 ? "*:file:_files" : "*: : ");
}

std::string zsh_fork(const std::string& node, const Verbs& verbs) {
    std::string lines;
    for (const auto& [name, summary] : verbs)
        lines += fmt::format(" \\\n    '{}:{}'", name, zsh_text(summary));
    return fmt::format("{0}() {{\n  _ranklab_of_commands {0}{1}\n}}\n", node, lines);
}

}  // namespace

std::string bash_completion(const ProgramManual& program) {
    std::string out;
    for (const auto& fork : forks_of(program)) out += bash_fork(node_of(fork), verbs_after(program, fork));
    for (const auto& part : program.parts) out += bash_function(part);
    return out;
}

std::string zsh_completion(const ProgramManual& program) {
    std::string out;
    for (const auto& fork : forks_of(program)) out += zsh_fork(node_of(fork), verbs_after(program, fork));
    for (const auto& part : program.parts) out += zsh_function(part);
    return out;
}

std::string completion_script(const std::string& shell, const Commands& commands, const std::string& parts) {
    const Verbs shells{{"bash", "for bash"}, {"zsh", "for zsh"}};
    const std::string own = "_ranklab__completion";
    const bool bash = shell == "bash";
    const std::string forks = bash ? bash_fork("_ranklab_", commands) + bash_fork(own, shells)
                                   : zsh_fork("_ranklab_", commands) + zsh_fork(own, shells);
    std::string programs = "ranklab";
    for (const auto& [name, summary] : commands)
        if (name != "completion") programs += " ranklab-" + name;
    const std::string end = bash ? fmt::format("\ncomplete -F _ranklab {}\n", programs)
                                 : fmt::format(
                                       "\nif [[ $funcstack[1] == _ranklab ]]; then _ranklab \"$@\"; else "
                                       "compdef _ranklab {}; fi\n",
                                       programs);
    return std::string(template_text("driver." + shell)) + '\n' + forks + parts + end;
}

bool answer_manual(const std::vector<std::string>& words, const std::function<ProgramManual()>& program) {
    if (words.empty() || words.front() != "--help-as") return false;
    const auto& form = words.back();
    const auto make = form == "man"    ? man_page
                      : form == "bash" ? bash_completion
                      : form == "zsh"  ? zsh_completion
                                       : nullptr;
    if (make == nullptr)
        throw base::OptionError(
            fmt::format("--help-as takes man, bash or zsh, not '{}'", base::printable(form, 20)));
    print_text(make(program()));
    return true;
}

}  // namespace ranklab::app
