#include "app/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "app/process.hpp"
#include "app/templates.hpp"
#include "app/version.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "comm/launcher.hpp"
#include "results/result_file.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::app {
namespace {

struct HelpSettings {
    bool help = false, version = false;
};

std::string name_of(const CommandGroup& program) {
    return program.command.empty() ? "ranklab" : "ranklab " + program.command;
}

// The verb alone: "make mnist" for the command "data make mnist".
std::string name_of(const CommandGroup& program, const Command& verb) {
    return verb.text.command.substr(program.command.empty() ? 0 : program.command.size() + 1);
}

Words names_of(const CommandGroup& program) {
    Words names;
    for (const auto& verb : program.verbs) names.push_back(name_of(program, verb));
    return names;
}

void print_verbs(const CommandGroup& program) {
    const std::size_t width =
        std::ranges::max(names_of(program), {}, &std::string::size).size() + 2;
    for (const auto& verb : program.verbs)
        print_text(base::wrapped(fmt::format("  {:<{}} ", name_of(program, verb), width),
                                 verb.text.summary));
}

// Leaves out the settings that this program does not have: a library below app may name settings of
// several programs in its error.
base::Settings known_to(const options::Schema& schema, base::Settings settings) {
    std::erase_if(settings, [&](const std::string& name) {
        const bool variable = name.front() >= 'A' && name.front() <= 'Z';
        return !variable && schema.find(name.substr(0, name.find(' '))) == nullptr;
    });
    return settings;
}

void print_help(const CommandGroup& program) {
    const std::string name = name_of(program);
    print("Usage: {} COMMAND {}\n\n{}\nCommands:\n", name, program.usage,
          base::wrapped("", program.summary));
    print_verbs(program);
    print("\n{} COMMAND --help says more. To begin with:\n", name);
    for (const auto& verb : program.verbs) print_text(verb.text.examples);
}

void print_help(const Command& command, bool all) {
    const auto& text = command.text;
    print(
        "Usage: ranklab {} {}\n\n{}\nExamples:\n{}\n{}Exit codes: 0 ok, 1 internal, 2 usage, 3 "
        "wrong data or failed verification,\n"
        "5 environment or wrong launch, 6 time limit, 7 measurement invalid; 128 + N\n"
        "if signal N stopped the work.\n",
        text.command, text.usage, base::wrapped("", text.summary), text.examples,
        command.schema.help(all));
}

bool asks_for_all_help(const Words& words) {
    return words.size() > 1 && words.back() == "all" &&
           (words[words.size() - 2] == "--help" || words[words.size() - 2] == "-h");
}

// Handles --help, --version, --list and an empty command line, and returns the exit
// code; nullopt for other words, which must begin with a command.
std::optional<int> answer_early(const CommandGroup& program, const Words& words) {
    const std::string first = words.empty() ? "--help" : words.front();
    const bool help = first == "--help" || first == "-h" || first == "help";
    if (!help && first != "--version" && first != "--list") return std::nullopt;
    if (is_output_rank()) {
        if (help)
            print_help(program);
        else if (first == "--list")
            print_verbs(program);
        else
            print_version();
    }
    return words.empty() ? static_cast<int>(base::ExitCode::usage) : 0;
}

[[noreturn]] void refuse_verb(const CommandGroup& program, const Words& words) {
    const Words known = names_of(program);
    const bool of_two_words = std::ranges::any_of(
        known, [](const auto& verb) { return verb.find(' ') != std::string::npos; });
    Words given;
    for (const auto& word : words) {
        if (word.starts_with('-') || given.size() == (of_two_words ? 2 : 1)) break;
        given.push_back(word);
    }
    const std::string text = base::printable(base::join(given, " "), 60);
    if (given.empty())
        throw base::OptionError(fmt::format("unexpected '{}' before the command; commands: {}",
                                            words.front(), base::join(known, ", ")));
    throw base::OptionError(fmt::format("'{}' is not a command of {}{}; commands: {}", text,
                                        name_of(program), base::or_did_you_mean(text, known),
                                        base::join(known, ", ")));
}

}  // namespace

std::vector<ProgramText> program_texts() {
    std::vector<ProgramText> all;
    for (const auto& line : base::split(template_text("commands.txt"), '\n')) {
        if (line.starts_with("== ")) {
            const auto bar = line.find('|');
            all.push_back(
                {base::trim(line.substr(3, bar - 3)), base::trim(line.substr(bar + 1)), ""});
        } else if (!all.empty() && !line.empty()) {
            auto& [command, usage, summary, examples] = all.back();
            summary.empty() ? summary = line : examples += line + '\n';
        }
    }
    return all;
}

ProgramText text_of_command(const std::string& command) {
    const auto all = program_texts();
    return *std::ranges::find(all, command, &ProgramText::command);
}

void describe_help(options::Schema& schema) {
    using options::Role;
    schema.section("Help")
        .flag("help", {&HelpSettings::help, 'h', options::marks::kEssential, Role::request},
              "this text; --help all: every option")
        .flag("version", {&HelpSettings::version, Role::request}, "version, revision and build");
}

std::optional<options::Options> parse_or_answer(const Command& command, const Words& words) {
    HelpSettings asked;
    const bool all = asks_for_all_help(words);
    if (!all) {
        auto options = options::Options::parse(command.schema, words);
        asked = options.fields<HelpSettings>();
        if (!asked.help && !asked.version) {
            if (options.positional().size() < command.schema.least_positional())
                throw base::OptionError(fmt::format("arguments are missing; type ranklab {} {}",
                                                    command.text.command, command.text.usage));
            return options;
        }
    }
    if (is_output_rank()) asked.version ? print_version() : print_help(command, all);
    return std::nullopt;
}

int run_plain_command(const Command& command, const Words& words) {
    const auto options = parse_or_answer(command, words);
    if (!options) return 0;
    try {
        return command.work(*options, words);
    } catch (const results::RunDamage& error) {
        const std::string file = base::shell_path(error.file.string());
        throw base::DataError(
            fmt::format("{}: run {} is damaged; `ranklab results export {} --output NEW.h5 "
                        "--skip-damaged` saves the others ({})",
                        error.file.string(), error.id, file, error.why));
    } catch (const base::Error& error) {
        throw base::Error(error.what(), error.code(), known_to(command.schema, error.settings()));
    }
}

int run_plain_program(int argc, char** argv, Command command) {
    prepare_process();
    describe_help(command.schema);
    return guarded([&] { return run_plain_command(command, arguments_of(argc, argv)); });
}

int run_verbs(const CommandGroup& program, const Words& words,
              const std::function<int(const Command&, const Words&)>& start) {
    prepare_process();
    return guarded([&] {
        if (const auto early = answer_early(program, words)) return *early;
        for (const auto& verb : program.verbs) {
            const Words own = base::split(name_of(program, verb), ' ');
            if (words.size() >= own.size() && std::equal(own.begin(), own.end(), words.begin()))
                return start(verb, {words.begin() + std::ssize(own), words.end()});
        }
        refuse_verb(program, words);
    });
}

int threads_of(const std::optional<int>& asked, int fallback) {
    if (asked) return *asked;
    const char* const set = std::getenv("OMP_NUM_THREADS");
    if (fallback != 0 || set == nullptr) return fallback;
    const std::string_view text = set;  // "4,2": the first number is the outermost level's
    const std::string first = base::trim(text.substr(0, text.find(',')));
    const int threads = base::number_in<int>(first).value_or(0);
    if (threads >= 1 && threads <= vocabulary::kMostThreads) return threads;
    if (is_output_rank())
        base::log::warn(fmt::format(
            "OMP_NUM_THREADS is '{}', not a number from 1 to {}, and is ignored; give --threads",
            base::printable(text, 40), vocabulary::kMostThreads));
    return 0;
}

Words arguments_of(int argc, char** argv) {
    return {argv + std::min(argc, 1), argv + argc};
}

std::string command_line_of(const std::string& command, Words words) {
    // ranklab sweep adds this option to what the user typed.
    if (const auto hash = std::ranges::find(words, "--inputs-hash"); words.end() - hash > 1)
        words.erase(hash, hash + 2);
    return "ranklab " + command + (words.empty() ? "" : " ") + base::shell_quote(words);
}

bool is_output_rank() {
    return comm::read_launcher().rank.value_or(0) == 0;
}

void print_version() {
    print("{}\n{}\n", version_line(), build_features());
}

}  // namespace ranklab::app
