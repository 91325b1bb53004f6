#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
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
#include "report/formats/formats.hpp"
#include "results/result_file.hpp"

namespace ranklab::app {
namespace {

using experiments::Experiment;
using vocabulary::CommonSettings;

// Prints on rank 0 alone. Of several runs the last one compares them.
class Output {
  public:
    Output(const options::Options& options, bool is_root);

    // The ranks' places and the settings that are not defaults; with --verbose and --dry-run all of
    // them.
    void header(const experiments::Plan& plan, const Launch& launch) const;
    bool has_progress() const { return is_root_ && !common_.quiet; }
    // Before the runs are stored.
    void answer(const std::vector<results::Run>& runs) const;
    // Once they are stored: their ids, what to type next; with --json the runs.
    void stored(const std::vector<results::Run>& runs) const;

  private:
    std::string place_of(const results::Run& run) const;

    const options::Options& options_;
    vocabulary::CommonSettings common_;
    bool is_root_;
    bool nccl_tests_;  // the run of comm as nccl-tests prints it, too
};

// How ranks work together means nothing on one rank.
bool belongs_in_header(const options::Options::Effective& option, std::size_t ranks) {
    return option.asked ||
           (option.in_header && (ranks > 1 || option.role != options::Role::coordination));
}

std::vector<results::Setting> short_settings(const options::Options& options, std::size_t ranks) {
    std::vector<results::Setting> settings;
    for (const auto& option : options.effective())
        if (option.role != options::Role::request && belongs_in_header(option, ranks))
            settings.push_back({option.name, option.value, false});
    return settings;
}

Output::Output(const options::Options& options, bool is_root)
    : options_(options),
      common_(options.fields<vocabulary::CommonSettings>()),
      is_root_(is_root),
      nccl_tests_(options.has("format") && options.is("format", "nccl-tests")) {}

void Output::header(const experiments::Plan& plan, const Launch& launch) const {
    const bool dry = common_.dry_run;
    if (!is_root_ || ((common_.quiet || common_.json) && !dry)) return;
    const bool all = common_.verbose || dry;
    print("# {}\n{}", version_line(),
          all ? placement_header(launch.placements) : placement_line(launch.placements));
    print_settings(all ? experiments::settings_of(options_)
                       : short_settings(options_, launch.placements.size()));
    std::vector<results::Setting> facts = plan.facts();
    if (!all) std::erase_if(facts, [](const auto& fact) { return fact.key != "note"; });
    print_settings(facts);
    if (!all) print("# all other settings: --verbose\n");
    std::fflush(stdout);
}

std::string Output::place_of(const results::Run& run) const {
    if (common_.output == "none") return "not stored (--output none)";
    return fmt::format("{} in {}", run.id, base::one_line(common_.output));
}

void Output::answer(const std::vector<results::Run>& runs) const {
    if (common_.quiet || common_.json) return;
    const results::Run& last = runs.back();
    if (nccl_tests_)
        print("{}", report::formats::nccl_text(last));
    else if (common_.verbose)
        for (const auto& run : runs) print("\n{}", report::formats::run_text(run, true));
    print("\n{}", report::formats::answer_text(last, {.colour = base::shows_colour(STDOUT_FILENO),
                                                      .whole = common_.verbose}));
    std::fflush(stdout);
}

void Output::stored(const std::vector<results::Run>& runs) const {
    const auto& last = runs.back();
    if (common_.json) {
        if (!common_.quiet && common_.output != "none")
            base::log::info("stored as " + place_of(last));
        print_whole(report::formats::runs_json(runs));
    } else if (common_.quiet) {
        for (const auto& run : runs)
            print("{}; {}\n", report::formats::answer_line(run), place_of(run));
    } else {
        print("{}", report::formats::screen_line("stored", place_of(last)));
        if (common_.output != "none")
            print("  {:<14}ranklab report {} --run {}\n", "next", base::shell_path(common_.output),
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

// Collective: settled here, or refused.
std::unique_ptr<experiments::Plan> settle(Session& session, Experiment& experiment,
                                          options::Options& options) {
    auto& control = session.control();
    std::unique_ptr<experiments::Plan> plan;
    comm::all_or_throw(control, [&] { plan = experiment.settle(options, control.world_size()); });
    plan->agree(options, control);
    return plan;
}

// The first run that is not well decides.
int exit_code_of(const std::vector<results::Run>& runs) {
    const auto bad = std::ranges::find_if(runs, [](const auto& run) { return run.exit_code != 0; });
    return bad == runs.end() ? 0 : bad->exit_code;
}

// Each sentence once.
void say_why(const std::vector<results::Run>& runs) {
    std::set<std::string> said;
    for (const auto& run : runs)
        if (run.exit_code != 0 && !run.warnings.empty() && said.insert(run.warnings.front()).second)
            base::log::error(run.warnings.front());
}

void show_and_store(const std::vector<results::Run>& runs, const Output& output,
                    const CommonSettings& common) {
    output.answer(runs);
    if (common.output != "none")
        results::store_or_set_apart(common.output, runs, common.lock_timeout);
    write_json_file(common, runs);
    output.stored(runs);
    say_why(runs);
}

// Collective: rank 0 shows and stores the runs while the others wait.
int deliver(Session& session, const experiments::Runs& runs, const Output& output,
            const CommonSettings& common, TerminalProgress& progress) {
    progress.activity(session.is_root() ? "storing the run"
                                        : "waiting for rank 0, which stores the run");
    progress.finish();
    const auto begin = base::Clock::now();
    comm::all_or_throw_polling(
        session.control(),
        [&] {
            if (session.is_root() && !runs.all.empty()) show_and_store(runs.all, output, common);
        },
        // Rank 0 may wait for the results file's lock, which the others' watchdogs do not see.
        [&] {
            if (base::seconds_since(begin) < common.lock_timeout) base::count_progress();
        });
    if (runs.failure) std::rethrow_exception(runs.failure);
    return exit_code_of(runs.all);
}

/// A run, from its options to the results file, on every rank.
int run(Session& session, Experiment& experiment, options::Options options,
        const std::string& command_line) {
    settle_options(session, options, command_line);
    const Launch launch = examine_launch(session, options, experiment);
    const auto plan = settle(session, experiment, options);
    const Output output(options, session.is_root());
    output.header(*plan, launch);
    warn_of(launch, session);
    const auto common = options.fields<CommonSettings>();
    if (common.dry_run) {
        plan->rehearse(session.control());
        return 0;
    }
    check_results_file(session, common);

    const base::StopSignals signals;
    TerminalProgress progress(output.has_progress());
    const auto watch = session.watch(progress, common.stall_timeout);
    RunFacts facts(session, launch, options, experiment);
    auto runs = plan->run(
        {session.control(), options, progress, &session.start_up(), facts.counted_part()});
    base::StopSignals::acknowledge();  // a signal has ended the work; storing goes on
    facts.gather();
    if (session.is_root() && !runs.all.empty()) facts.complete(runs.all, command_line);
    return deliver(session, runs, output, common, progress);
}

std::string command_line_of(const Experiment& experiment, int argc, char** argv) {
    const std::string quoted = base::shell_quote(arguments_of(argc, argv));
    return "ranklab " + experiment.command() + (quoted.empty() ? "" : " ") + quoted;
}

options::Schema schema_of(const Experiment& experiment) {
    options::Schema schema;
    experiment.describe(schema);
    describe_common(schema);
    describe_help(schema);
    return schema;
}

}  // namespace

int run_experiment(int argc, char** argv, Experiment& experiment) {
    base::StopSignals::note_warnings();
    const options::Schema schema = schema_of(experiment);
    const ProgramText text{experiment.command(), "[options]", experiment.summary(),
                           experiment.examples()};
    const auto lists = [&](const options::Options& options) {
        const auto common = options.fields<CommonSettings>();
        if (common.list && common.json) options.check_relations();
        if (common.list && is_output_rank()) print_listings(experiment);
        return common.list;
    };
    return run_mpi_program(
        argc, argv, schema, text, lists,
        [&](Session& session, const options::Options& options) {
            return run(session, experiment, options, command_line_of(experiment, argc, argv));
        },
        [&](const options::Options& options) { return experiment.needs_mpi(options); },
        [&](const options::Options& options) { return experiment.threads_call_mpi(options); });
}

}  // namespace ranklab::app
