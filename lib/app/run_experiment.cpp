#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <set>

#include "app/process.hpp"
#include "app/programs.hpp"
#include "app/run_facts.hpp"
#include "app/session.hpp"
#include "app/terminal.hpp"
#include "app/version.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/progress.hpp"
#include "base/stop_signals.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "report/diagnosis/diagnosis.hpp"
#include "report/formats/formats.hpp"
#include "results/result_file.hpp"
#include "results/staged_file.hpp"

namespace ranklab::app {
namespace {

using experiments::Experiment;
using vocabulary::CommonSettings;

constexpr const char* kJson = "json-file";

// Returns the options that the user set and the ones that every header shows; of the latter, one
// rank alone leaves out the options that coordinate ranks.
std::vector<results::Setting> short_settings(const std::vector<options::Effective>& settled,
                                             const options::Options& given, std::size_t ranks) {
    std::vector<options::Effective> shown;
    for (const auto& option : settled)
        if (given.asks(option) || (option.row->in_header &&
                                   (ranks > 1 || option.row->role != options::Role::coordination)))
            shown.push_back(option);
    return experiments::settings_of(shown);
}

// Prints "# key: value" lines.
void print_settings(const std::vector<results::Setting>& settings) {
    for (const auto& setting : settings)
        print("# {}: {}\n", setting.key, base::one_line(setting.value));
}

// Prints the ranks' placement and the settings of short_settings(), or all settings with --verbose
// or --dry-run.
void print_header(const experiments::Plan& plan, const options::Options& given,
                  const CommonSettings& common, const Launch& launch) {
    if ((common.quiet || common.json) && !common.dry_run) return;
    const bool all = common.verbose || common.dry_run;
    print("# {}\n{}", version_line(), placement_line(launch.placements));
    const auto& settled = plan.settings;
    print_settings(all ? experiments::settings_of(settled)
                       : short_settings(settled, given, launch.placements.size()));
    std::vector<results::Setting> facts = plan.facts;
    if (!all) std::erase_if(facts, [](const auto& fact) { return fact.key != "note"; });
    print_settings(facts);
    if (!all) print("# all other settings: --verbose\n");
    std::fflush(stdout);
}

// Prints the last run's answer. Of several io runs, the last one is the comparison of the
// strategies (table `ladder`).
void print_answer(const CommonSettings& common, const std::vector<results::Run>& runs) {
    if (common.quiet || common.json) return;
    const results::Run& last = runs.back();
    if (common.verbose)
        for (const auto& run : runs) print("\n{}", report::formats::run_text(run, true));
    print("\n{}", report::formats::answer_text(
                      last, {.colour = base::shows_colour(STDOUT_FILENO),
                             .whole = common.verbose,
                             .advice = last.command == "train" && last.valid
                                           ? advice_text(report::diagnosis::diagnose(last))
                                           : ""}));
    std::fflush(stdout);
}

// Prints the runs' ids and what to type next; with --json the runs.
void print_stored(const CommonSettings& common, const std::vector<results::Run>& runs) {
    const auto place_of = [&](const results::Run& run) {
        return common.output == "none"
                   ? "not stored (--output none)"
                   : fmt::format("{} in {}", run.id, base::one_line(common.output));
    };
    const auto& last = runs.back();
    if (common.json) {
        if (!common.quiet && common.output != "none")
            base::log::info("stored as " + place_of(last));
        print_whole(report::formats::runs_json(runs));
    } else if (common.quiet) {
        for (const auto& run : runs)
            print("{}; {}\n", report::formats::answer_line(run), place_of(run));
    } else {
        print("{}", report::formats::screen_line("stored", place_of(last)));
        if (common.output != "none")
            print("  {:<14}ranklab report {} --run {}\n", "next", base::shell_path(common.output),
                  last.id);
    }
}

void print_listings(const Experiment& experiment) {
    for (const auto& listing : experiment.listings()) {
        std::size_t width = 18;
        for (const auto& [name, summary] : listing.entries) width = std::max(width, name.size());
        print("{}\n", listing.title);
        for (const auto& [name, summary] : listing.entries)
            print_text(base::wrapped(fmt::format("  {:<{}} ", name, width), summary));
    }
}

// The exit code of the first run that did not end with 0; 0 if all did.
int exit_code_of(const std::vector<results::Run>& runs) {
    const auto bad = std::ranges::find_if(runs, [](const auto& run) { return run.exit_code != 0; });
    return bad == runs.end() ? 0 : bad->exit_code;
}

// Prints each reason for an exit code once.
void say_why(const std::vector<results::Run>& runs) {
    std::set<std::string> said;
    for (const auto& run : runs)
        if (run.exit_code != 0 && !run.warnings.empty() && said.insert(run.warnings.front()).second)
            base::log::error(run.warnings.front());
}

// Collective, before the work. Throws EnvironmentError or OptionError if runs could not be stored.
void check_files(Session& session, const vocabulary::CommonSettings& common) {
    constexpr std::uint64_t kExpectedBytes = 512U << 10U;  // more than most runs take
    comm::all_or_throw(session.control(), [&] {
        if (!session.is_root()) return;
        if (common.json_file) results::TextFile(*common.json_file, kJson);
        if (common.output != "none")
            results::ResultFile(common.output).check_writable(kExpectedBytes);
    });
    session.start_up().done("settings and the results file");
}

void show_and_store(const CommonSettings& common, const std::vector<results::Run>& runs) {
    std::exception_ptr not_stored;
    try {
        if (common.output != "none")
            results::store_or_set_apart(common.output, runs, common.lock_timeout);
    } catch (const std::exception&) {
        not_stored = std::current_exception();
    }
    print_answer(common, runs);
    if (not_stored) std::rethrow_exception(not_stored);
    if (common.json_file)
        results::write_text(*common.json_file, report::formats::runs_json(runs), kJson);
    print_stored(common, runs);
    say_why(runs);
}

// Collective: rank 0 shows and stores the runs while the other ranks wait.
int deliver(Session& session, const CommonSettings& common, const experiments::Runs& runs) {
    session.progress().activity(session.is_root() ? "storing the run"
                                                  : "waiting for rank 0, which stores the run");
    session.progress().finish();
    const auto begin = base::Clock::now();
    comm::all_or_throw_polling(
        session.control(),
        [&] {
            if (session.is_root() && !runs.all.empty()) show_and_store(common, runs.all);
            if (session.is_root() && !runs.text.empty()) print_whole(runs.text);
        },
        // The other ranks' watchdogs must not end a wait of rank 0 for the results file's lock.
        [&] {
            if (base::seconds_since(begin) < common.lock_timeout) base::count_progress();
        });
    if (runs.failure) std::rethrow_exception(runs.failure);
    return exit_code_of(runs.all);
}

/// Makes a run, from its options to the results file, on every rank.
int run(Session& session, const Experiment& experiment, const options::Options& words,
        const std::string& command_line) {
    const options::Options given = merge_config(session, words, command_line);
    auto common = given.fields<CommonSettings>();
    if (!experiment.makes_runs) {  // nothing to store, and the header has all settings
        common.output = "none";
        common.verbose = true;
    }
    experiments::LaunchNeeds needs;
    comm::all_or_throw(session.control(), [&] { needs = experiment.needs(given); });
    const Launch launch = examine_launch(session, common, needs);
    vocabulary::settle(
        common.threads,
        launch.placements[static_cast<std::size_t>(session.control().rank())].threads);
    const auto plan = experiment.settle(given, common, session.control());
    if (session.is_root()) print_header(plan, given, common, launch);
    if (session.is_root())
        for (const auto& warning : launch.warnings) base::log::warn(warning);
    if (common.dry_run) {
        plan.rehearse(session.control());
        return 0;
    }
    check_files(session, common);

    std::optional<base::StopSignals> signals;  // a tool does not poll: a signal ends it at once
    if (experiment.makes_runs) signals.emplace();
    TerminalProgress& progress = session.progress();
    if (session.is_root() && !common.quiet) progress.speak();
    session.watch(common.stall_timeout);
    RunFacts facts(session, launch, common, plan.uses_gpus);
    auto runs = plan.run(
        {session.control(), progress, &session.start_up(), facts.counted_part(), version()});
    base::StopSignals::acknowledge();  // a signal that ended the work must not end the storing
    facts.gather();
    if (session.is_root() && !runs.all.empty())
        facts.complete(runs.all, experiment.command, command_line);
    return deliver(session, common, runs);
}

Command command_of(const Experiment& experiment) {
    Command command{{experiment.command, experiment.usage, experiment.summary, experiment.examples},
                    experiment.options};
    if (experiment.makes_runs)
        command.schema.append(vocabulary::common_settings());
    else
        command.schema.section("Common").take(
            vocabulary::common_settings(),
            {"config", "expect-ranks", "stall-timeout", "dry-run", "quiet"});
    describe_help(command.schema);
    return command;
}

int run_on_ranks(const Experiment& experiment, const Command& command, const Words& words,
                 const std::string& command_line) {
    return run_mpi_program({.command = command,
                            .work =
                                [&](Session& session, const options::Options& given) {
                                    return run(session, experiment, given, command_line);
                                },
                            .answers_early =
                                [&](const options::Options& given) {
                                    const auto common = given.fields<CommonSettings>();
                                    if (!common.list) return false;
                                    if (common.json) given.check_relations(common);
                                    if (is_output_rank()) print_listings(experiment);
                                    return true;
                                },
                            .needs = experiment.needs},
                           words);
}

}  // namespace

int run_experiment(int argc, char** argv, const Experiment& experiment) {
    base::StopSignals::note_warnings();
    const auto words = arguments_of(argc, argv);
    return run_on_ranks(experiment, command_of(experiment), words,
                        command_line_of(experiment.command, words));
}

int run_tool(int argc, char** argv, const experiments::Tool& tool) {
    const auto words = arguments_of(argc, argv);
    CommandGroup program{tool.command, tool.summary, "[options]", {}};
    for (const auto& verb : tool.verbs) program.verbs.push_back(command_of(verb));
    return run_verbs(program, words, [&](const Command& command, const Words& rest) {
        const auto& verb =
            *std::ranges::find(tool.verbs, command.text.command, &Experiment::command);
        return run_on_ranks(verb, command, rest, command_line_of(tool.command, words));
    });
}

}  // namespace ranklab::app
