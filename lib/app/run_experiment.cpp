#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <utility>

#include "app/context.hpp"
#include "app/job_start.hpp"
#include "app/mpi_program.hpp"
#include "app/programs.hpp"
#include "app/take_turns.hpp"
#include "app/terminal.hpp"
#include "app/version.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "report/text.hpp"
#include "results/rescue.hpp"
#include "results/result_file.hpp"

namespace ranklab::app {
namespace {

using experiments::Experiment;

struct Job {
    Session& session;
    Experiment& experiment;
    options::Options options;
    std::string command_line;
};

void print_listings(const Experiment& experiment) {
    for (const auto& listing : experiment.listings()) {
        std::size_t width = 18;
        for (const auto& [name, summary] : listing.entries) width = std::max(width, name.size());
        fmt::print("{}\n", listing.title);
        for (const auto& [name, summary] : listing.entries) fmt::print("  {:<{}} {}\n", name, width, summary);
    }
}

// Samples of about ten measurements and a margin for the rest.
std::uint64_t expected_bytes(const Job& job, int ranks) {
    const std::uint64_t steps =
        job.options.has("steps") ? static_cast<std::uint64_t>(job.options.integer("steps")) : 10000;
    return steps * static_cast<std::uint64_t>(ranks) * 10 * sizeof(double) + (1U << 18U);
}

void prepare_output(Job& job) {
    auto& control = job.session.control();
    comm::together(control, [&] {
        if (control.rank() == 0 && job.options.text("output") != "none") {
            results::ResultFile(job.options.text("output"))
                .prepare(expected_bytes(job, control.world_size()));
        }
    });
}

// Rank 0 stores the run; where the file cannot take it any more, in a rescue file whose path is told.
void store(const results::Run& run, const std::string& output) {
    if (output == "none") return;
    try {
        results::ResultFile(output).append(run);
    } catch (base::Error& error) {
        const auto rescue = results::write_rescue(run);
        throw base::EnvironmentError(fmt::format(
            "{}; the run was not lost: it is in {} (ranklab report reads it, `ranklab results merge {} "
            "{}` brings it home)",
            error.what(), rescue.string(), output, rescue.string()));
    }
}

void complete(results::Run& run, const Job& job, const std::vector<monitor::Placement>& placements,
              std::int64_t started, std::chrono::steady_clock::time_point start) {
    run.id = results::make_run_id(started);
    run.command = job.experiment.command();
    run.argv = job.command_line;
    run.label = job.options.text("label");
    run.started_utc = base::utc_iso(started);
    run.duration_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    run.version = version();
    run.git_revision = git_revision();
    run.config = settings_of(job.options);
    const auto context = collect_context(job.options.text("output"));
    run.context.insert(run.context.begin(), context.begin(), context.end());
    run.hosts = host_rows(placements, job.options.has("device") && job.options.text("device") == "cuda");
    if (build_type() != "Release")
        run.warnings.push_back("this is a " + build_type() +
                               " build: its times are not those of a Release build");
}

void print_result(const results::Run& run, const std::string& output) {
    fmt::print("\n{}", report::run_text(run));
    if (output == "none") {
        fmt::print("\nNot stored (--output none).\n");
    } else {
        fmt::print("\nStored as {} in {}\nNext: ranklab report {} --run {}\n", run.id, output,
                   base::shell_quote({output}), run.id);
    }
    std::fflush(stdout);
}

// What the launch says, the same for every run of the job.
struct Launch {
    std::vector<monitor::Placement> placements;
    std::vector<std::string> warnings;
};

Launch check_launch(Job& job) {
    auto& session = job.session;
    const int threads = job.options.has("threads") ? static_cast<int>(job.options.integer("threads"))
                                                   : job.experiment.default_threads();
    Launch launch{session.gather_placements(threads), {}};
    launch.warnings = guard_launch(session, job.options, launch.placements);
    if (!job.options.has("threads")) {
        const auto& mine = launch.placements[static_cast<std::size_t>(session.control().rank())];
        job.options.resolve("threads", fmt::format("{}", mine.threads));
    }
    return launch;
}

bool speaks(const Job& job) {
    return job.session.is_root() && (!job.options.flag("quiet") || job.options.flag("dry-run"));
}

// Of all but those that are shown already.
std::vector<results::Setting> others_than(const std::vector<results::Setting>& shown,
                                          std::vector<results::Setting> settings) {
    std::erase_if(settings, [&](const auto& setting) {
        return std::any_of(shown.begin(), shown.end(), [&](const auto& one) {
            return one.key == setting.key && one.value == setting.value;
        });
    });
    return settings;
}

// Settles what the options leave open, and shows them: of several variants the first whole, of the others
// what they have in place of it.
void show_settings(Job& job, const Launch& launch, std::vector<results::Setting>& shown) {
    auto& control = job.session.control();
    std::vector<results::Setting> extra;
    comm::together(control, [&] { extra = job.experiment.resolve(job.options, control.world_size()); });
    if (!speaks(job)) return;
    auto settings = settings_of(job.options);
    settings.insert(settings.end(), extra.begin(), extra.end());
    if (shown.empty()) {
        fmt::print("# {}\n{}", version_line(), placement_header(launch.placements));
        shown = settings;
        print_settings(settings);
    } else {
        fmt::print("# and:\n");
        print_settings(others_than(shown, settings));
    }
    std::fflush(stdout);
}

void warn_of(const Job& job, const Launch& launch) {
    if (!job.session.is_root()) return;
    for (const auto& warning : launch.warnings) base::log::warn(warning);
}

std::int64_t unix_now() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

// `line`: instead of the whole result, where there is one.
void conclude_run(results::Run& run, const Job& job, const Launch& launch, std::int64_t started,
                  std::chrono::steady_clock::time_point start,
                  const std::function<std::string(const results::Run&)>& line_of) {
    comm::together(job.session.control(), [&] {
        if (!job.session.is_root()) return;
        complete(run, job, launch.placements, started, start);
        store(run, job.options.text("output"));
        const std::string line = run.valid ? line_of(run) : "";
        if (line.empty())
            print_result(run, job.options.text("output"));
        else
            fmt::print("{} ({})\n", line, job.options.text("output") == "none" ? "not stored" : run.id);
        std::fflush(stdout);
        if (run.exit_code != 0 && !run.warnings.empty()) base::log::error(run.warnings.front());
    });
}

std::string no_line(const results::Run&) {
    return "";
}

results::Run make_run(Job& job, const Launch& launch, std::int64_t started,
                      std::chrono::steady_clock::time_point start,
                      const std::function<std::string(const results::Run&)>& line_of, bool first = true) {
    TerminalProgress progress(job.session.is_root() && !job.options.flag("quiet"));
    const auto watchdog = job.session.watch(progress, job.options.real("stall-timeout"));
    results::Run run = job.experiment.run({job.session.control(), job.options, progress, first});
    run.warnings.insert(run.warnings.end(), launch.warnings.begin(), launch.warnings.end());
    conclude_run(run, job, launch, started, start, line_of);
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

std::vector<results::Run> in_turns(Job& job, const std::vector<experiments::Variant>& variants,
                                   const Launch& launch) {
    TerminalProgress progress(job.session.is_root() && !job.options.flag("quiet"));
    const auto watchdog = job.session.watch(progress, job.options.real("stall-timeout"));
    std::vector<Job> jobs;
    for (const auto& variant : variants) {
        jobs.push_back(job_of(job, variant));
        static_cast<void>(job.experiment.resolve(jobs.back().options, job.session.control().world_size()));
    }
    const auto line_of = [&](const results::Run& run) { return job.experiment.line_of(run); };
    std::vector<results::Run> runs;
    bool first = true;
    take_turns(
        variants, static_cast<std::uint64_t>(job.options.integer("seed")),
        [&](std::size_t i) {
            return job.experiment.begin(
                {job.session.control(), jobs[i].options, progress, std::exchange(first, false)});
        },
        [&](FinishedRun&& finished) {
            auto& run = runs.emplace_back(std::move(finished.run));
            run.warnings.insert(run.warnings.end(), launch.warnings.begin(), launch.warnings.end());
            const auto used = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                std::chrono::duration<double>(finished.used_s));
            conclude_run(run, jobs[finished.variant], launch, finished.started,
                         std::chrono::steady_clock::now() - used, line_of);
            drop_samples(run);
        });
    return runs;
}

std::vector<results::Run> one_after_the_other(Job& job, const std::vector<experiments::Variant>& variants,
                                              const Launch& launch) {
    const auto line_of = [&](const results::Run& run) { return job.experiment.line_of(run); };
    std::vector<results::Run> runs;
    for (const auto& variant : variants) {
        Job own = job_of(job, variant);
        static_cast<void>(job.experiment.resolve(own.options, job.session.control().world_size()));
        runs.push_back(
            make_run(own, launch, unix_now(), std::chrono::steady_clock::now(), line_of, runs.empty()));
        drop_samples(runs.back());
    }
    return runs;
}

// The runs, then what they came to, as a run of its own. All are settled before the first one begins: what
// cannot be is said before any work. A run that fails its checks is a result like the others.
int work_on_variants(Job& job, const std::vector<experiments::Variant>& variants, const Launch& launch,
                     std::int64_t started, std::chrono::steady_clock::time_point start) {
    std::vector<results::Setting> shown;
    for (const auto& variant : variants) {
        Job own = job_of(job, variant);
        show_settings(own, launch, shown);
    }
    warn_of(job, launch);
    if (job.options.flag("dry-run")) return 0;
    prepare_output(job);
    const bool turns = job.options.has("order") && job.options.text("order") == "interleaved";
    const auto runs = turns ? in_turns(job, variants, launch) : one_after_the_other(job, variants, launch);
    const auto bad =
        std::find_if(runs.begin(), runs.end(), [](const auto& run) { return run.exit_code != 0; });
    results::Run summary;
    summary.tables = job.experiment.compare(runs);
    conclude_run(summary, job, launch, started, start, no_line);
    return bad == runs.end() ? 0 : bad->exit_code;
}

int work(Job& job) {
    const auto start = std::chrono::steady_clock::now();
    const auto started = unix_now();
    settle_options(job.session, job.options, job.command_line);
    const Launch launch = check_launch(job);
    std::vector<experiments::Variant> variants;
    comm::together(job.session.control(), [&] { variants = job.experiment.variants(job.options); });
    if (!variants.empty()) return work_on_variants(job, variants, launch, started, start);
    std::vector<results::Setting> shown;
    show_settings(job, launch, shown);
    warn_of(job, launch);
    if (job.options.flag("dry-run")) return 0;
    prepare_output(job);
    return make_run(job, launch, started, start, no_line).exit_code;
}

std::string command_line(const Experiment& experiment, int argc, char** argv) {
    const std::string quoted = base::shell_quote(arguments_of(argc, argv));
    return "ranklab " + experiment.command() + (quoted.empty() ? "" : " ") + quoted;
}

}  // namespace

int run_experiment(int argc, char** argv, Experiment& experiment) {
    options::Schema schema;
    experiment.describe(schema);
    describe_common(schema);
    describe_help(schema);
    const ProgramText text{experiment.command(), "[options]", experiment.summary(), experiment.examples()};
    const auto lists = [&](const options::Options& options) {
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
