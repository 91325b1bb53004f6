#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "app/context.hpp"
#include "app/crew.hpp"
#include "app/job_start.hpp"
#include "app/json_file.hpp"
#include "app/launch_checks.hpp"
#include "app/many_samples.hpp"
#include "app/mpi_program.hpp"
#include "app/printing.hpp"
#include "app/programs.hpp"
#include "app/run_header.hpp"
#include "app/run_under_way.hpp"
#include "app/showing.hpp"
#include "app/take_turns.hpp"
#include "app/terminal.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/mpirun.hpp"
#include "base/shell_path.hpp"
#include "base/stop_signals.hpp"
#include "base/text.hpp"
#include "base/wrap.hpp"
#include "comm/exchange.hpp"
#include "report/formats/formats.hpp"
#include "report/model/groups.hpp"
#include "report/model/notices.hpp"
#include "results/keeper.hpp"
#include "results/kept_samples.hpp"
#include "results/result_file.hpp"

namespace ranklab::app {
namespace {

using experiments::Experiment;
using Clock = std::chrono::steady_clock;

constexpr const char* kGuarded = "options and launch guard";  // a part of the start

void print_listings(const Experiment& experiment) {
    for (const auto& listing : experiment.listings()) {
        std::size_t width = 18;
        for (const auto& [name, summary] : listing.entries) width = std::max(width, name.size());
        print("{}\n", listing.title);
        for (const auto& [name, summary] : listing.entries)
            print_text(base::wrapped(fmt::format("  {:<{}} ", name, width), summary));
    }
}

// Samples, and a margin for the rest.
std::uint64_t expected_bytes(const Job& job, int world_size) {
    const auto kept = results::kept_samples(job.options.text(results::kKeepSamples));
    const std::uint64_t steps =
        job.options.has("steps") ? static_cast<std::uint64_t>(job.options.integer("steps")) : 10000;
    return samples_bytes(kept, static_cast<std::uint64_t>(world_size), steps) + (1U << 18U);
}

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
    return 0;
}

void tell_who_sleeps(const Job& job, TerminalProgress& progress) {
    if (!job.crew->is_aboard()) progress.activity("sleeping: this run is of fewer ranks");
}

results::Run make_run(const Job& job, std::int64_t started, Clock::time_point start, const ShowsRun& show,
                      TerminalProgress& progress, bool first = true) {
    RunUnderWay under_way(job, started, start);
    const auto watch = job.session.watch(progress, job.options.real("stall-timeout"));
    tell_who_sleeps(job, progress);
    results::Run run;
    job.crew->make([&] {
        run = experiments::run_whole(*job.plan, under_way.surroundings(progress, first));
        under_way.ended();
    });
    under_way.deliver(run, progress, show);
    return run;
}

// Collective: the job with what the run has of its own, and with who makes it.
Job job_of(const Job& job, const experiments::Variant& variant, Crews& crews) {
    Job own = job;
    for (const auto& [name, value] : variant.options) {
        if (job.options.several(name).size() > 1) own.point += fmt::format("{} {}, ", name, value);
        own.options.choose(name, value);
    }
    own.crew = crews.of(own.options, variant);
    if (own.options.has("threads")) return own;
    const std::size_t rank = own.crew->is_aboard() ? own.crew->control().rank() : 0;
    own.options.resolve("threads", fmt::format("{}", own.launch().placements[rank].threads));
    return own;
}

// Of what is stored and shown: several runs in one command are compared by their summaries, and by the times
// that speedups are made of.
void drop_samples(results::Run& run) {
    const auto& kept = report::model::scaling_times();
    for (auto& measurement : run.measurements) {
        if (std::ranges::find(kept, measurement.name) == kept.end()) measurement.samples = {};
        measurement.warmup = {};
        measurement.stream = nullptr;
    }
}

// Tells the run when its work ends: what comes between that and its delivery is others'.
class ToldWork final : public experiments::Work {
  public:
    ToldWork(std::unique_ptr<experiments::Work> work, RunUnderWay& under_way)
        : work_(std::move(work)), under_way_(under_way) {}

    bool repeat() override { return work_->repeat(); }
    bool was_whole() const override { return work_->was_whole(); }
    void rest() override { work_->rest(); }
    results::Run finish() override {
        results::Run run = work_->finish();
        under_way_.ended();
        return run;
    }

  private:
    std::unique_ptr<experiments::Work> work_;
    RunUnderWay& under_way_;
};

// What was made is handed to `runs` as soon as it is there, so that it is of use where a later one fails.
void in_turns(Job& job, const std::vector<experiments::Variant>& variants, const std::vector<Job>& jobs,
              std::vector<results::Run>& runs, TerminalProgress& progress) {
    const auto watch = job.session.watch(progress, job.options.real("stall-timeout"));
    std::vector<std::unique_ptr<RunUnderWay>> under_way(jobs.size());
    bool first = true;
    take_turns(variants, static_cast<std::uint64_t>(job.options.integer("seed")),
               {.begin =
                    [&](std::size_t i) {
                        under_way[i] = std::make_unique<RunUnderWay>(jobs[i], unix_now(), Clock::now());
                        tell_who_sleeps(jobs[i], progress);
                        const bool is_first = std::exchange(first, false);
                        return jobs[i].crew->begin([&] {
                            auto work = jobs[i].plan->begin(under_way[i]->surroundings(progress, is_first));
                            return std::make_unique<ToldWork>(std::move(work), *under_way[i]);
                        });
                    },
                .finished = [&](std::size_t i, const results::Run& run) { under_way[i]->keep_whole(run); },
                .take =
                    [&](FinishedRun&& finished) {
                        auto& run = runs.emplace_back(std::move(finished.run));
                        under_way[finished.variant]->used(finished.used_s);
                        try {
                            under_way[finished.variant]->deliver(run, progress,
                                                                 one_of_several(jobs[finished.variant]));
                        } catch (...) {
                            runs.pop_back();  // it is not among those that are stored
                            throw;
                        }
                        tell_of_one(jobs[finished.variant], run, progress);
                        drop_samples(run);
                    }});
}

void one_after_the_other(const std::vector<Job>& jobs, std::vector<results::Run>& runs,
                         TerminalProgress& progress) {
    for (const Job& own : jobs) {
        runs.push_back(make_run(own, unix_now(), Clock::now(), one_of_several(own), progress, runs.empty()));
        tell_of_one(own, runs.back(), progress);
        drop_samples(runs.back());
    }
}

// The summary is stored with what the runs' headers showed: what all have, and of what they differ in what
// was asked for or, where nothing was, all values; of numbers, nothing: none of them is that of all.
void settle_for_summary(Job& job, const std::vector<Job>& jobs) {
    std::map<std::string, std::vector<std::string>> settled;
    std::set<std::string> texts;
    for (const Job& own : jobs) {
        for (const auto& setting : own.options.effective()) {
            auto& values = settled[setting.name];
            if (setting.type == options::Type::text) texts.insert(setting.name);
            if (std::ranges::find(values, setting.value) == values.end()) values.push_back(setting.value);
        }
    }
    for (const auto& [name, values] : settled) {
        if (job.options.several(name).size() > 1) continue;  // as it was asked for
        if (values.size() == 1)
            job.options.choose(name, values.front());
        else if (!job.options.has(name) && texts.contains(name))
            job.options.resolve(name, base::join(values, ","));
        else if (!texts.contains(name))
            job.options.leave_open(name);
    }
}

// What the variants differ in, in the order in which they name it, but for what only follows from it.
std::vector<std::string> varied(const Job& job, const std::vector<experiments::Variant>& variants) {
    std::map<std::string, std::set<std::string>> values;
    for (const auto& variant : variants)
        for (const auto& [name, value] : variant.options) values[name].insert(value);
    const auto lists = job.experiment.several();
    std::vector<std::string> names;
    for (const auto& [name, value] : variants.front().options) {
        const bool was_asked =
            std::ranges::find(lists, name) == lists.end() || job.options.several(name).size() > 1;
        if (was_asked && values[name].size() > 1) names.push_back(name);
    }
    return names;
}

// What the runs came to, as a run of its own.
results::Run summary_of(const Job& job, const std::vector<experiments::Variant>& variants,
                        const std::vector<results::Run>& runs) {
    results::Run summary;
    // An experiment that takes no lists has a ladder of its own.
    if (!job.experiment.several().empty())
        summary.tables = report::formats::scaling_tables(runs, varied(job, variants));
    for (auto& table : job.experiment.compare(runs)) summary.tables.push_back(std::move(table));
    summary.context = job.experiment.facts_of(runs);
    report::model::Notices warnings;
    for (const auto& run : runs)
        for (const auto& warning : run.warnings) warnings.add(warning, run.id);
    for (const auto& notice : warnings.sorted())
        summary.warnings.push_back(fmt::format("{} ({} of {} runs)", notice.text, notice.runs, runs.size()));
    return summary;
}

// They stand for as far as they came, and so does what they came to.
void mark_cut_short(results::Run& summary, const std::vector<results::Run>& runs) {
    const auto is_cut = [](const results::Run& run) { return !run.cut_short().empty(); };
    const auto first = std::ranges::find_if(runs, is_cut);
    if (first == runs.end()) return;
    summary.exit_code = first->exit_code;
    summary.warnings.insert(
        summary.warnings.begin(),
        fmt::format("{} of {} runs were cut short ({}): it compares what was measured until then",
                    std::ranges::count_if(runs, is_cut), runs.size(), first->cut_short()));
}

// JSON is an answer too.
void end(const Job& job, const std::vector<results::Run>& runs, TerminalProgress& progress) {
    Showing(job.options).end(runs);
    progress.answered();
}

// 0: it failed.
int signal_that_stopped() {
    try {
        throw;
    } catch (const base::Error& error) {
        return base::stop_of(error);
    } catch (...) {
        return 0;
    }
}

void show_the_finished_one(const Job& job, const results::Run& run, std::size_t planned,
                           TerminalProgress& progress) {
    progress.make_room_for_answer();
    print_whole(Showing(job.options).of_the_finished_one(run, line_of(job, run), planned));
}

// A run has failed, or a signal (0: none) came; those before it are stored, and are compared all the same. By
// rank 0 alone, since the others may be anywhere, and shortly, since they do not wait for long.
void save_summary(const Job& job, const std::vector<experiments::Variant>& variants,
                  std::vector<results::Run>& runs, int signal, RunUnderWay& under_way,
                  TerminalProgress& progress) {
    if (!job.session.is_root()) return;
    try {
        if (runs.size() == 1) show_the_finished_one(job, runs.front(), variants.size(), progress);
        if (runs.size() < 2) return end(job, runs, progress);
        auto summary = summary_of(job, variants, runs);
        RunUnderWay::mark_incomplete(
            summary,
            fmt::format("it compares {} of {} runs, since {}", runs.size(), variants.size(),
                        signal == 0 ? "the next one failed"
                                    : "it was stopped by " + base::StopSignals::name_of(signal)),
            signal);
        under_way.deliver_alone(summary, comparison(job, progress));
        runs.push_back(std::move(summary));
        end(job, runs, progress);
    } catch (const std::exception& error) {
        base::log::error(options::told(error));  // beside the failure that led here
    }
}

// The runs, then what they came to. All are settled before the first one begins: what cannot be is said
// before any work. A run that fails its checks is a result like the others.
int work_on_variants(Job& job, const std::vector<experiments::Variant>& variants, Crews& crews,
                     std::int64_t started, Clock::time_point start) {
    std::vector<results::Setting> shown;
    std::vector<Job> jobs;
    for (const auto& variant : variants) {
        settle(jobs.emplace_back(job_of(job, variant, crews)));
        if (speaks(job) && wants_all_settings(job))
            print_whole_header(jobs.back(), jobs.back().launch(), shown);
    }
    job.session.start_up().done(kGuarded);
    job.crew = crews.widest();
    const options::Options asked = job.options;
    settle_for_summary(job, jobs);
    if (speaks(job) && !wants_all_settings(job)) print_short_header(job, asked, job.options, job.launch());
    warn_of(job, jobs);
    if (job.options.flag("dry-run")) return 0;
    prepare_output(job);
    const bool turns = job.options.has("order") && job.options.text("order") == "interleaved";
    std::vector<results::Run> runs;
    auto progress = progress_of(job);
    try {
        turns ? in_turns(job, variants, jobs, runs, progress) : one_after_the_other(jobs, runs, progress);
    } catch (...) {
        const int signal = signal_that_stopped();
        const auto shortly = results::LockWait{.patience_s = job.options.real("lock-timeout")}.shortened(
            2, "after a failure it is not waited for longer, whatever --lock-timeout is");
        RunUnderWay under_way(job, started, start, shortly);
        save_summary(job, variants, runs, signal, under_way, progress);
        throw;
    }
    const auto bad = std::ranges::find_if(runs, [](const auto& run) { return run.exit_code != 0; });
    settle_for_summary(job, jobs);  // what was decided on the way, too
    results::Run summary;
    if (job.session.is_root()) {
        summary = summary_of(job, variants, runs);
        mark_cut_short(summary, runs);
    }
    RunUnderWay(job, started, start).deliver(summary, progress, comparison(job, progress));
    const int code = bad == runs.end() ? 0 : bad->exit_code;
    runs.push_back(std::move(summary));
    if (job.session.is_root()) end(job, runs, progress);
    return code;
}

int work(Job& asked) {
    const auto start = Clock::now();
    const auto started = unix_now();
    settle_options(asked.session, asked.options, asked.command_line);
    std::vector<experiments::Variant> variants;
    comm::together(asked.session.control(), [&] { variants = asked.experiment.variants(asked.options); });
    Crews crews(asked.session, asked.experiment.default_threads());
    if (variants.size() > 1) return work_on_variants(asked, variants, crews, started, start);
    Job job = job_of(asked, variants.empty() ? experiments::Variant() : variants.front(), crews);
    job.session.start_up().done(kGuarded);
    settle(job);
    std::vector<results::Setting> shown;
    if (speaks(job) && wants_all_settings(job)) print_whole_header(job, job.launch(), shown);
    if (speaks(job) && !wants_all_settings(job))
        print_short_header(job, job.options, job.options, job.launch());
    warn_of(job, {job});
    if (job.options.flag("dry-run")) return rehearse(job);
    prepare_output(job);
    comm::together(job.session.control(), [&] {
        if (job.session.is_root()) check_json_file(job.options);
    });
    auto progress = progress_of(job);
    return make_run(job, started, start, the_only_one(job), progress).exit_code;
}

std::string command_line(const Experiment& experiment, int argc, char** argv) {
    const std::string quoted = base::shell_quote(arguments_of(argc, argv));
    return "ranklab " + experiment.command() + (quoted.empty() ? "" : " ") + quoted;
}

}  // namespace

int run_experiment(int argc, char** argv, Experiment& experiment) {
    base::StopSignals::note_warnings();
    options::Schema schema;
    experiment.describe(schema);
    describe_common(schema);
    schema.several(experiment.several());
    describe_help(schema);
    const ProgramText text{experiment.command(), "[options]", experiment.summary(), experiment.examples()};
    const auto lists = [&](const options::Options& options) {
        if (options.flag("list") && options.flag("json")) options.check_relations();
        if (options.flag("list") && speaks_for_job()) print_listings(experiment);
        return options.flag("list");
    };
    return run_mpi_program(
        argc, argv, schema, text, lists,
        [&](Session& session, const options::Options& options) {
            Job job{session, experiment, options, command_line(experiment, argc, argv)};
            return work(job);
        },
        [&](const options::Options& options) { return experiment.needs_mpi(options); },
        [&](const options::Options& options) { return experiment.threads_call_mpi(options); });
}

}  // namespace ranklab::app
