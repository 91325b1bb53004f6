#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "app/context.hpp"
#include "app/job_start.hpp"
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
#include "base/shell_path.hpp"
#include "base/stop_signals.hpp"
#include "base/text.hpp"
#include "base/wrap.hpp"
#include "comm/exchange.hpp"
#include "report/model/notices.hpp"
#include "results/keeper.hpp"
#include "results/result_file.hpp"

namespace ranklab::app {
namespace {

using experiments::Experiment;
using Clock = std::chrono::steady_clock;

void print_listings(const Experiment& experiment) {
    for (const auto& listing : experiment.listings()) {
        std::size_t width = 18;
        for (const auto& [name, summary] : listing.entries) width = std::max(width, name.size());
        print("{}\n", listing.title);
        for (const auto& [name, summary] : listing.entries)
            print_text(base::wrapped(fmt::format("  {:<{}} ", name, width), summary));
    }
}

// Samples of about ten measurements and a margin for the rest.
std::uint64_t expected_bytes(const Job& job, int ranks) {
    const std::uint64_t steps =
        job.options.has("steps") ? static_cast<std::uint64_t>(job.options.integer("steps")) : 10000;
    return steps * static_cast<std::uint64_t>(ranks) * 10 * sizeof(double) + (1U << 18U);
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
}

Launch check_launch(Job& job) {
    auto& session = job.session;
    const int threads = threads_of(job.options, job.experiment.default_threads());
    Launch launch{session.gather_placements(threads), {}};
    launch.warnings = guard_launch(session, job.options, launch.placements);
    if (!job.options.has("threads")) {
        const auto& mine = launch.placements[static_cast<std::size_t>(session.control().rank())];
        job.options.resolve("threads", fmt::format("{}", mine.threads));
    }
    return launch;
}

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
    return run.valid ? job.experiment.line_of(run) : "";
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
    auto& control = job.session.control();
    comm::together(control, [&] { job.plan = job.experiment.settle(job.options, control.world_size()); });
    job.plan->agree(job.options, control);
}

bool wants_all_settings(const Job& job) {
    return Showing(job.options).verbose() || job.options.flag("dry-run");
}

void warn_of(const Job& job, const Launch& launch) {
    if (!job.session.is_root()) return;
    for (const auto& warning : launch.warnings) base::log::warn(warning);
}

results::Run make_run(const Job& job, const Launch& launch, std::int64_t started, Clock::time_point start,
                      const ShowsRun& show, TerminalProgress& progress, bool first = true) {
    RunUnderWay under_way(job, launch, started, start);
    const auto watch = job.session.watch(progress, job.options.real("stall-timeout"));
    results::Run run = experiments::run_whole(*job.plan, under_way.surroundings(progress, first));
    under_way.deliver(run, progress, show);
    return run;
}

Job job_of(const Job& job, const experiments::Variant& variant) {
    Job own = job;
    for (const auto& [name, value] : variant.options) own.options.choose(name, value);
    return own;
}

// Of what is stored and shown: several runs in one command are compared by their summaries.
void drop_samples(results::Run& run) {
    for (auto& measurement : run.measurements) {
        measurement.samples = {};
        measurement.warmup = {};
        measurement.stream = nullptr;
    }
}

// What was made is handed to `runs` as soon as it is there, so that it is of use where a later one fails.
void in_turns(Job& job, const std::vector<experiments::Variant>& variants, const std::vector<Job>& jobs,
              const Launch& launch, std::vector<results::Run>& runs, TerminalProgress& progress) {
    const auto watch = job.session.watch(progress, job.options.real("stall-timeout"));
    const auto show = one_of_several(job);
    std::vector<std::unique_ptr<RunUnderWay>> under_way(jobs.size());
    bool first = true;
    take_turns(variants, static_cast<std::uint64_t>(job.options.integer("seed")),
               {.begin =
                    [&](std::size_t i) {
                        under_way[i] =
                            std::make_unique<RunUnderWay>(jobs[i], launch, unix_now(), Clock::now());
                        return jobs[i].plan->begin(
                            under_way[i]->surroundings(progress, std::exchange(first, false)));
                    },
                .finished = [&](std::size_t i, const results::Run& run) { under_way[i]->keep_whole(run); },
                .take =
                    [&](FinishedRun&& finished) {
                        auto& run = runs.emplace_back(std::move(finished.run));
                        under_way[finished.variant]->used(finished.used_s);
                        under_way[finished.variant]->deliver(run, progress, show);
                        tell_of_one(jobs[finished.variant], run, progress);
                        drop_samples(run);
                    }});
}

void one_after_the_other(const std::vector<Job>& jobs, const Launch& launch, std::vector<results::Run>& runs,
                         TerminalProgress& progress) {
    for (const Job& own : jobs) {
        runs.push_back(
            make_run(own, launch, unix_now(), Clock::now(), one_of_several(own), progress, runs.empty()));
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
        if (values.size() == 1)
            job.options.choose(name, values.front());
        else if (!job.options.has(name) && texts.contains(name))
            job.options.resolve(name, base::join(values, ","));
        else if (!texts.contains(name))
            job.options.leave_open(name);
    }
}

// What the runs came to, as a run of its own.
results::Run summary_of(const Job& job, const std::vector<results::Run>& runs) {
    results::Run summary;
    summary.tables = job.experiment.compare(runs);
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
void save_summary(const Job& job, std::vector<results::Run>& runs, std::size_t planned, int signal,
                  RunUnderWay& under_way, TerminalProgress& progress) {
    if (!job.session.is_root()) return;
    try {
        if (runs.size() == 1) show_the_finished_one(job, runs.front(), planned, progress);
        if (runs.size() < 2) return end(job, runs, progress);
        auto summary = summary_of(job, runs);
        RunUnderWay::mark_incomplete(
            summary,
            fmt::format("it compares {} of {} runs, since {}", runs.size(), planned,
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
int work_on_variants(Job& job, const std::vector<experiments::Variant>& variants, const Launch& launch,
                     std::int64_t started, Clock::time_point start) {
    std::vector<results::Setting> shown;
    std::vector<Job> jobs;
    for (const auto& variant : variants) {
        settle(jobs.emplace_back(job_of(job, variant)));
        if (speaks(job) && wants_all_settings(job)) print_whole_header(jobs.back(), launch, shown);
    }
    const options::Options asked = job.options;
    settle_for_summary(job, jobs);
    if (speaks(job) && !wants_all_settings(job)) print_short_header(job, asked, job.options, launch);
    warn_of(job, launch);
    if (job.options.flag("dry-run")) return 0;
    prepare_output(job);
    const bool turns = job.options.has("order") && job.options.text("order") == "interleaved";
    std::vector<results::Run> runs;
    auto progress = progress_of(job);
    try {
        turns ? in_turns(job, variants, jobs, launch, runs, progress)
              : one_after_the_other(jobs, launch, runs, progress);
    } catch (...) {
        const int signal = signal_that_stopped();
        const auto shortly = results::LockWait{.patience_s = job.options.real("lock-timeout")}.shortened(
            2, "after a failure it is not waited for longer, whatever --lock-timeout is");
        RunUnderWay under_way(job, launch, started, start, shortly);
        save_summary(job, runs, variants.size(), signal, under_way, progress);
        throw;
    }
    const auto bad = std::ranges::find_if(runs, [](const auto& run) { return run.exit_code != 0; });
    settle_for_summary(job, jobs);  // what was decided on the way, too
    auto summary = summary_of(job, runs);
    mark_cut_short(summary, runs);
    RunUnderWay(job, launch, started, start).deliver(summary, progress, comparison(job, progress));
    const int code = bad == runs.end() ? 0 : bad->exit_code;
    runs.push_back(std::move(summary));
    if (job.session.is_root()) end(job, runs, progress);
    return code;
}

int work(Job& job) {
    const auto start = Clock::now();
    const auto started = unix_now();
    settle_options(job.session, job.options, job.command_line);
    const Launch launch = check_launch(job);
    std::vector<experiments::Variant> variants;
    comm::together(job.session.control(), [&] { variants = job.experiment.variants(job.options); });
    if (!variants.empty()) return work_on_variants(job, variants, launch, started, start);
    settle(job);
    std::vector<results::Setting> shown;
    if (speaks(job) && wants_all_settings(job)) print_whole_header(job, launch, shown);
    if (speaks(job) && !wants_all_settings(job)) print_short_header(job, job.options, job.options, launch);
    warn_of(job, launch);
    if (job.options.flag("dry-run")) return 0;
    prepare_output(job);
    auto progress = progress_of(job);
    return make_run(job, launch, started, start, the_only_one(job), progress).exit_code;
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
        [&](const options::Options& options) { return experiment.needs_mpi(options); });
}

}  // namespace ranklab::app
