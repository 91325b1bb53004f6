#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>

#include "app/job_start.hpp"
#include "app/mpi_program.hpp"
#include "app/output.hpp"
#include "app/printing.hpp"
#include "app/programs.hpp"
#include "app/run_facts.hpp"
#include "app/terminal.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/progress.hpp"
#include "base/stop_signals.hpp"
#include "base/text.hpp"
#include "base/wrap.hpp"
#include "comm/exchange.hpp"
#include "results/result_file.hpp"

namespace ranklab::app {
namespace {

using experiments::Experiment;
using vocabulary::CommonSettings;

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
    comm::together(control, [&] { plan = experiment.settle(options, control.world_size()); });
    plan->agree(options, control);
    return plan;
}

<<<<<<< HEAD
int rehearse(Session& session, experiments::Plan& plan) {
    plan.rehearse(session.control());
||||||| 8d6582d0
// What earlier jobs could not store, since they were killed. A lock of another host may not reach here, so
// that its job would seem to have ended.
void tell_of_left_behind(const std::string& output) {
    const auto left = results::left_behind(output);
    if (left.empty()) return;
    base::log::warn(
        fmt::format("{} run(s) lie beside {}, and no job of this host will store them: `ranklab results "
                    "merge {} {}` adds them to it, once no other host works on them",
                    left.size(), output, base::shell_path(output), results::pending_pattern(output)));
}

void prepare_output(Job& job) {
    auto& control = job.session.control();
    comm::together(control, [&] {
        if (control.rank() == 0 && job.options.text("output") != "none") {
            results::ResultFile(job.options.text("output"))
                .prepare(expected_bytes(job, control.world_size()));
            tell_of_left_behind(job.options.text("output"));
        }
    });
    job.session.start_up().done("settings and the results file");
}

// The crews of a job's runs: one for each number of ranks and threads that they ask for.
class Crews {
  public:
    Crews(Session& session, int default_threads) : session_(session), default_threads_(default_threads) {}

    // Collective.
    std::shared_ptr<const Crew> of(const options::Options& options, const experiments::Variant& variant) {
        const int threads = threads_of(options, default_threads_);
        auto& crew = made_[{variant.ranks, threads, variant.spread}];
        if (crew == nullptr) crew = make(options, variant, places(threads));
        return crew;
    }
    // Of all runs together: who takes part in one of them.
    std::shared_ptr<const Crew> widest() const {
        const auto widest =
            std::ranges::max_element(made_, {}, [](const auto& one) { return one.second->size(); })->second;
        return places_.size() > 1 ? std::make_shared<Crew>(widest->without_threads()) : widest;
    }

  private:
    std::shared_ptr<const Crew> make(const options::Options& options, const experiments::Variant& variant,
                                     const std::vector<host::Placement>& places) {
        check(variant.ranks);
        look_at_folder(options, places);
        if (variant.ranks == 0 || variant.ranks == session_.control().world_size())
            return std::make_shared<Crew>(session_, launch(options, places));
        const auto ranks = crew_ranks(places, variant.ranks, variant.spread);
        return std::make_shared<Crew>(session_, launch(options, placements_of(places, ranks)), ranks);
    }
    Launch launch(const options::Options& options, const std::vector<host::Placement>& places) {
        Launch all{places, guard_launch(session_, options, places)};
        if (!folder_warning_.empty()) all.warnings.push_back(folder_warning_);
        return all;
    }
    // The same for all crews.
    void look_at_folder(const options::Options& options, const std::vector<host::Placement>& places) {
        if (made_.size() > 1 || options.flag("dry-run")) return;  // the one that is being made is in it
        if (const auto local = check_results_folder(session_.control(), places, options.text("output")))
            folder_warning_ = options::told(local->sentence(), local->settings);
    }
    void check(int ranks) {
        auto& control = session_.control();
        comm::together(control, [&] {
            if (ranks > control.world_size())
                throw base::OptionError(fmt::format(
                    "--ranks {}: the job has {} rank{}; start it with {} or more ({} -n {}, srun -n {})",
                    ranks, control.world_size(), control.world_size() == 1 ? "" : "s", ranks, base::mpirun(),
                    ranks, ranks));
        });
    }
    const std::vector<host::Placement>& places(int threads) {
        auto& places = places_[threads];
        if (places.empty()) places = session_.gather_placements(threads);
        return places;
    }

    Session& session_;
    int default_threads_;
    std::string folder_warning_;
    std::map<int, std::vector<host::Placement>> places_;  // by the threads asked for
    std::map<std::tuple<int, int, bool>, std::shared_ptr<const Crew>> made_;
};

bool speaks(const Job& job) {
    return job.session.is_root() && (Showing(job.options).has_header() || job.options.flag("dry-run"));
}

ShowsRun the_only_one(const Job& job) {
    return [showing = Showing(job.options)](const results::Run& run) { return showing.of(run); };
}

// What several runs came to. One that is not valid has no numbers, and the lines of the runs have.
ShowsRun comparison(const Job& job, TerminalProgress& progress) {
    return [showing = Showing(job.options), &progress](const results::Run& run) {
        Shown shown = showing.of_comparison(run);
        if (!shown.answer.empty()) shown.answered = [&progress] { progress.answered(); };
        run.valid ? progress.make_room_for_answer() : progress.show_finished_ones();
        return shown;
    };
}

std::string line_of(const Job& job, const results::Run& run) {
    const std::string line = run.valid ? job.experiment.line_of(run) : "";
    return line.empty() ? "" : job.point + line;
}

ShowsRun one_of_several(const Job& job) {
    return [showing = Showing(job.options), &job](const results::Run& run) {
        return showing.of_one(run, line_of(job, run));
    };
}

void tell_of_one(const Job& job, const results::Run& run, TerminalProgress& progress) {
    if (job.session.is_root())
        progress.finished_one(Showing(job.options).progress_line(run, line_of(job, run)));
}

TerminalProgress progress_of(const Job& job) {
    return TerminalProgress(job.session.is_root() && Showing(job.options).has_progress());
}

// What the options leave open.
void settle(Job& job) {
    comm::together(job.session.control(),
                   [&] { job.plan = job.experiment.settle(job.options, job.crew->size()); });
    job.crew->make([&] { job.plan->agree(job.options, job.crew->control()); });
}

bool wants_all_settings(const Job& job) {
    return Showing(job.options).verbose() || job.options.flag("dry-run");
}

void warn_of(const Job& job, const std::vector<Job>& jobs) {
    if (!job.session.is_root()) return;
    std::set<std::string> told;
    for (const auto& one : jobs)
        for (const auto& warning : one.launch().warnings)
            if (told.insert(warning).second) base::log::warn(warning);
}

int rehearse(const Job& job) {
    job.crew->make([&] { job.plan->rehearse(job.crew->control()); });
=======
// What earlier jobs could not store, since they were killed. A lock of another host may not reach here, so
// that its job would seem to have ended.
void tell_of_left_behind(const std::string& output) {
    const auto left = results::left_behind(output);
    if (left.empty()) return;
    base::log::warn(
        fmt::format("{} run(s) lie beside {}, and no job of this host will store them: `ranklab results "
                    "merge {} {}` adds them to it, once no other host works on them",
                    left.size(), output, base::shell_path(output), results::pending_pattern(output)));
}

void prepare_output(Job& job) {
    auto& control = job.session.control();
    comm::together(control, [&] {
        if (control.rank() == 0 && job.options.text("output") != "none") {
            results::ResultFile(job.options.text("output"))
                .prepare(expected_bytes(job, control.world_size()));
            tell_of_left_behind(job.options.text("output"));
        }
    });
    job.session.start_up().done("settings and the results file");
}

// The crews of a job's runs: one for each number of ranks and threads that they ask for.
class Crews {
  public:
    Crews(Session& session, int default_threads) : session_(session), default_threads_(default_threads) {}

    // Collective.
    std::shared_ptr<const Crew> of(const options::Options& options, const experiments::Variant& variant) {
        const int threads = threads_of(options, default_threads_);
        auto& crew = made_[{variant.ranks, threads, variant.spread}];
        if (crew == nullptr) crew = make(options, variant, places(threads));
        return crew;
    }
    // Of all runs together: who takes part in one of them.
    std::shared_ptr<const Crew> widest() const {
        const auto widest =
            std::ranges::max_element(made_, {}, [](const auto& one) { return one.second->size(); })->second;
        return places_.size() > 1 ? std::make_shared<Crew>(widest->without_threads()) : widest;
    }

  private:
    std::shared_ptr<const Crew> make(const options::Options& options, const experiments::Variant& variant,
                                     const std::vector<host::Placement>& places) {
        check(variant.ranks);
        look_at_folder(options, places);
        if (variant.ranks == 0 || variant.ranks == session_.control().world_size())
            return std::make_shared<Crew>(session_, launch(options, places));
        const auto ranks = crew_ranks(places, variant.ranks, variant.spread);
        return std::make_shared<Crew>(session_, launch(options, placements_of(places, ranks)), ranks);
    }
    Launch launch(const options::Options& options, const std::vector<host::Placement>& places) {
        Launch all{places, guard_launch(session_, options, places)};
        if (!folder_warning_.empty()) all.warnings.push_back(folder_warning_);
        return all;
    }
    // The same for all crews.
    void look_at_folder(const options::Options& options, const std::vector<host::Placement>& places) {
        if (made_.size() > 1 || options.flag("dry-run")) return;  // the one that is being made is in it
        if (const auto local = check_results_folder(session_.control(), places, options.text("output")))
            folder_warning_ = local->sentence();
    }
    void check(int ranks) {
        auto& control = session_.control();
        comm::together(control, [&] {
            if (ranks > control.world_size())
                throw base::OptionError(fmt::format(
                    "--ranks {}: the job has {} rank{}; start it with {} or more ({} -n {}, srun -n {})",
                    ranks, control.world_size(), control.world_size() == 1 ? "" : "s", ranks, base::mpirun(),
                    ranks, ranks));
        });
    }
    const std::vector<host::Placement>& places(int threads) {
        auto& places = places_[threads];
        if (places.empty()) places = session_.gather_placements(threads);
        return places;
    }

    Session& session_;
    int default_threads_;
    std::string folder_warning_;
    std::map<int, std::vector<host::Placement>> places_;  // by the threads asked for
    std::map<std::tuple<int, int, bool>, std::shared_ptr<const Crew>> made_;
};

bool speaks(const Job& job) {
    return job.session.is_root() && (Showing(job.options).has_header() || job.options.flag("dry-run"));
}

ShowsRun the_only_one(const Job& job) {
    return [showing = Showing(job.options)](const results::Run& run) { return showing.of(run); };
}

// What several runs came to. One that is not valid has no numbers, and the lines of the runs have.
ShowsRun comparison(const Job& job, TerminalProgress& progress) {
    return [showing = Showing(job.options), &progress](const results::Run& run) {
        Shown shown = showing.of_comparison(run);
        if (!shown.answer.empty()) shown.answered = [&progress] { progress.answered(); };
        run.valid ? progress.make_room_for_answer() : progress.show_finished_ones();
        return shown;
    };
}

std::string line_of(const Job& job, const results::Run& run) {
    const std::string line = run.valid ? job.experiment.line_of(run) : "";
    return line.empty() ? "" : job.point + line;
}

ShowsRun one_of_several(const Job& job) {
    return [showing = Showing(job.options), &job](const results::Run& run) {
        return showing.of_one(run, line_of(job, run));
    };
}

void tell_of_one(const Job& job, const results::Run& run, TerminalProgress& progress) {
    if (job.session.is_root())
        progress.finished_one(Showing(job.options).progress_line(run, line_of(job, run)));
}

TerminalProgress progress_of(const Job& job) {
    return TerminalProgress(job.session.is_root() && Showing(job.options).has_progress());
}

// What the options leave open.
void settle(Job& job) {
    comm::together(job.session.control(),
                   [&] { job.plan = job.experiment.settle(job.options, job.crew->size()); });
    job.crew->make([&] { job.plan->agree(job.options, job.crew->control()); });
}

bool wants_all_settings(const Job& job) {
    return Showing(job.options).verbose() || job.options.flag("dry-run");
}

void warn_of(const Job& job, const std::vector<Job>& jobs) {
    if (!job.session.is_root()) return;
    std::set<std::string> told;
    for (const auto& one : jobs)
        for (const auto& warning : one.launch().warnings)
            if (told.insert(warning).second) base::log::warn(warning);
}

int rehearse(const Job& job) {
    job.crew->make([&] { job.plan->rehearse(job.crew->control()); });
>>>>>>> 12244b8e32729e56942aee584d4a5cd077d6703e
    return 0;
}

// Of several strategies the first that failed its checks decides.
int exit_code_of(const std::vector<results::Run>& runs) {
    const auto bad = std::ranges::find_if(runs, [](const auto& run) { return run.exit_code != 0; });
    return bad == runs.end() ? 0 : bad->exit_code;
}

void show_and_store(const std::vector<results::Run>& runs, const Output& output,
                    const CommonSettings& common) {
    output.answer(runs);
    if (common.output != "none") results::store_or_set_apart(common.output, runs, common.lock_timeout);
    output.stored(runs);
    for (const auto& run : runs)
        if (run.exit_code != 0 && !run.warnings.empty()) base::log::error(run.warnings.front());
}

// Collective: rank 0 shows and stores the runs while the others wait.
int deliver(Session& session, const experiments::Runs& runs, const Output& output,
             const CommonSettings& common, TerminalProgress& progress) {
    progress.activity(session.is_root() ? "storing the run" : "waiting for rank 0, which stores the run");
    progress.finish();
    const auto begin = base::Clock::now();
    comm::together_politely(
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
int run(Session& session, Experiment& experiment, options::Options options, const std::string& command_line) {
    settle_options(session, options, command_line);
    const Launch launch = examine_launch(session, options, experiment);
    const auto plan = settle(session, experiment, options);
    const Output output(options, session.is_root());
    output.header(*plan, launch);
    warn_of(launch, session);
    const auto common = options.fields<CommonSettings>();
    if (common.dry_run) return rehearse(session, *plan);
    check_results_file(session, common);

    const base::StopSignals signals;
    TerminalProgress progress(output.has_progress());
    const auto watch = session.watch(progress, common.stall_timeout);
    RunFacts facts(session, launch, options, experiment);
    auto runs = plan->run({session.control(), options, progress, &session.start_up(), facts.counted_part()});
    base::StopSignals::follow();  // a signal has ended the work; storing goes on
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
    const ProgramText text{experiment.command(), "[options]", experiment.summary(), experiment.examples()};
    const auto lists = [&](const options::Options& options) {
        const auto common = options.fields<CommonSettings>();
        if (common.list && common.json) options.check_relations();
        if (common.list && speaks_for_job()) print_listings(experiment);
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
