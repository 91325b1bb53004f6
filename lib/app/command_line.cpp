#include "app/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "app/process.hpp"
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

using Words = std::vector<std::string>;

Words verbs_of(const ProgramManual& program) {
    Words verbs;
    for (const auto& part : program.parts)
        verbs.push_back(part.text.command.substr(program.command.size() + 1));
    return verbs;
}

void print_verbs(const ProgramManual& program) {
    const Words verbs = verbs_of(program);
    const std::size_t width = std::ranges::max(verbs, {}, &std::string::size).size() + 2;
    for (std::size_t i = 0; i < verbs.size(); ++i)
        print_text(base::wrapped(fmt::format("  {:<{}} ", verbs[i], width),
                                 program.parts[i].text.summary));
}

void print_help(const ProgramManual& program) {
    print("Usage: ranklab {} COMMAND {}\n\n{}\nCommands:\n", program.command, program.usage,
          base::wrapped("", program.summary));
    print_verbs(program);
    print("\nranklab {} COMMAND --help says more. To begin with:\n", program.command);
    for (const auto& part : program.parts) print_text(narrow_examples(part.text.examples));
}

// An error from a lower room may name settings of other programs: those that this one lacks are
// left out.
base::Settings known_to(const options::Schema& schema, base::Settings settings) {
    std::erase_if(settings, [&](const std::string& name) {
        const bool variable = name.front() >= 'A' && name.front() <= 'Z';
        return !variable && schema.find(name.substr(0, name.find(' '))) == nullptr;
    });
    return settings;
}

// The command on several lines if it is long, joined by backslashes as shells do.
std::string folded_command(const std::string& command) {
    std::string text = base::wrapped("      ", command, base::kScreenColumns - 2).substr(4);
    text.pop_back();
    std::string all;
    for (const char c : text) all += c == '\n' ? " \\\n" : std::string(1, c);
    return all + '\n';
}

}  // namespace

std::string narrow_examples(const std::string& examples) {
    std::string text;
    for (const auto& line : base::split(examples, '\n')) {
        if (line.empty()) continue;
        if (base::columns_of(line) <= base::kScreenColumns) {
            text += line + '\n';
            continue;
        }
        const auto end = line.find("  ", line.find_first_not_of(' '));
        text += folded_command(line.substr(0, end));
        if (end != std::string::npos) text += base::wrapped("      ", line.substr(end));
    }
    return text;
}

void describe_help(options::Schema& schema) {
    schema.section("Help")
        .flag("help",
              {&HelpSettings::help, 'h', options::marks::kEssential, options::Role::request},
              "this text; --help all: every option")
        .flag("version", {&HelpSettings::version, options::Role::request},
              "version, revision and build");
}

namespace {

void print_help(const options::Schema& schema, const ProgramText& text, bool all) {
    if (!is_output_rank()) return;
    print(
        "Usage: ranklab {} {}\n\n{}\nExamples:\n{}\n{}Exit codes: 0 ok, 1 internal, 2 usage, 3 "
        "wrong data or failed verification,\n"
        "5 environment or launch guard, 6 time limit, 7 measurement invalid; 128 + N\n"
        "where signal N stopped the work.\n",
        text.command, text.usage, base::wrapped("", text.summary), narrow_examples(text.examples),
        schema.help(all));
}

}  // namespace

bool answer_help_all(const Words& words, const options::Schema& schema, const ProgramText& text) {
    const bool asked = words.size() > 1 && words.back() == "all" &&
                       (words[words.size() - 2] == "--help" || words[words.size() - 2] == "-h");
    if (asked) print_help(schema, text, true);
    return asked;
}

bool answer_help(const options::Options& options, const options::Schema& schema,
                 const ProgramText& text) {
    const auto asked = options.fields<HelpSettings>();
    if (asked.version) {
        if (is_output_rank()) print("{}\n{}\n", version_line(), build_features());
        return true;
    }
    if (!asked.help) return false;
    print_help(schema, text, false);
    return true;
}

int run_plain_command(const options::Schema& schema, const ProgramText& text,
                      const std::vector<std::string>& words,
                      const std::function<int(const options::Options&)>& work) {
    if (answer_manual(words, [&] { return manual_of(text, schema); })) return 0;
    if (answer_help_all(words, schema, text)) return 0;
    const auto options = options::Options::parse(schema, words);
    if (answer_help(options, schema, text)) return 0;
    try {
        return work(options);
    } catch (const results::RunDamage& error) {
        const std::string file = base::shell_path(error.file.string());
        throw base::DataError(
            fmt::format("{}: run {} is damaged; `ranklab results export {} --output NEW.h5 "
                        "--skip-damaged` saves the others ({})",
                        error.file.string(), error.id, file, error.why));
    } catch (const base::Error& error) {
        throw base::Error(error.what(), error.code(), known_to(schema, error.settings()));
    }
}

int run_plain_program(int argc, char** argv, const ProgramText& text,
                      const std::function<void(options::Schema&)>& describe,
                      const std::function<int(const options::Options&)>& work) {
    prepare_process();
    options::Schema schema;
    describe(schema);
    describe_help(schema);
    return guarded([&] { return run_plain_command(schema, text, arguments_of(argc, argv), work); });
}

int threads_of(const std::optional<int>& asked, int fallback) {
    if (asked) return *asked;
    const char* const set = std::getenv("OMP_NUM_THREADS");
    if (fallback != 0 || set == nullptr) return fallback;
    const std::string_view text = set;  // of a list the first number is the outermost level's
    const std::string first = base::trim(text.substr(0, text.find(',')));
    const int threads = base::number_in<int>(first).value_or(0);
    if (threads >= 1 && threads <= vocabulary::kMostThreads) return threads;
    if (is_output_rank())
        base::log::warn(fmt::format(
            "OMP_NUM_THREADS is '{}', not a number from 1 to {}, and is ignored; give --threads",
            base::printable(text, 40), vocabulary::kMostThreads));
    return 0;
}

std::vector<std::string> arguments_of(int argc, char** argv) {
    return {argv + std::min(argc, 1), argv + argc};
}

std::string command_line_of(const std::string& command, const Words& words) {
    return "ranklab " + command + (words.empty() ? "" : " ") + base::shell_quote(words);
}

bool is_output_rank() {
    return comm::read_launcher().rank.value_or(0) == 0;
}

std::optional<int> answer_early(const ProgramManual& program, const Words& words) {
    if (answer_manual(words, [&] { return program; })) return 0;
    const std::string first = words.empty() ? "" : words.front();
    const bool help = words.empty() || first == "--help" || first == "-h" || first == "help";
    if (!help && first != "--version" && first != "--list") return std::nullopt;
    if (is_output_rank()) {
        if (help)
            print_help(program);
        else if (first == "--list")
            print_verbs(program);
        else
            print("{}\n{}\n", version_line(), build_features());
    }
    return words.empty() ? static_cast<int>(base::ExitCode::usage) : 0;
}

std::string unknown_verb(const ProgramManual& program, const Words& words) {
    const Words known = verbs_of(program);
    const bool of_two_words = std::ranges::any_of(
        known, [](const auto& verb) { return verb.find(' ') != std::string::npos; });
    Words given;
    for (const auto& word : words) {
        if (word.starts_with('-') || given.size() == (of_two_words ? 2 : 1)) break;
        given.push_back(word);
    }
    const std::string text = base::printable(base::join(given, " "), 60);
    if (given.empty())
        return fmt::format("unexpected '{}' before the command; commands: {}", words.front(),
                           base::join(known, ", "));
    return fmt::format("there is no 'ranklab {} {}'{}; commands: {}", program.command, text,
                       base::or_did_you_mean(text, known), base::join(known, ", "));
}

int run_verbs(
    ProgramManual program, const Words& words,
    const std::function<int(const std::string&, const options::Options&, const Words&)>& work) {
    prepare_process();
    for (auto& part : program.parts) describe_help(part.schema);
    return guarded([&] {
        if (const auto early = answer_early(program, words)) return *early;
        const Words verbs = verbs_of(program);
        const auto verb = std::ranges::find(verbs, words.front());
        if (verb == verbs.end()) throw base::OptionError(unknown_verb(program, words));
        const auto& [text, schema] = program.parts[static_cast<std::size_t>(verb - verbs.begin())];
        const Words rest{words.begin() + 1, words.end()};
        return run_plain_command(schema, text, rest,
                                 [&](const auto& options) { return work(*verb, options, rest); });
    });
}

}  // namespace ranklab::app
