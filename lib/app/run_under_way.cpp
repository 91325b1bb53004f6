#include "app/run_under_way.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "app/context.hpp"
#include "app/version.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/motion.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/doubts.hpp"

namespace ranklab::app {
std::int64_t unix_now() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

RunUnderWay::RunUnderWay(Job job, const Launch& launch, std::int64_t started, Clock::time_point start,
                         results::LockWait wait)
    : job_(std::move(job)),
      launch_(launch),
      id_(results::make_run_id(started)),
      started_(started),
      start_(start),
      delivery_(job_.options.text("output"), std::move(wait), job_.options.flag("verbose")),
      place_(job_.session.control(), launch.placements) {}

experiments::Surroundings RunUnderWay::surroundings(base::ProgressSink& progress, bool first) {
    experiments::Surroundings around{job_.session.control(), job_.options, progress, first, {}};
    if (job_.options.text("output") != "none")
        around.keep = [this](const results::Run& so_far) { keep(so_far); };
    return around;
}

void RunUnderWay::keep(results::Run so_far) {
    if (!job_.session.is_root()) return;
    mark_incomplete(so_far,
                    fmt::format("it was measured until {} and is kept in case the job does not finish",
                                base::utc_iso(unix_now())));
    keep_whole(std::move(so_far));
}

void RunUnderWay::keep_whole(results::Run run) {
    if (!job_.session.is_root()) return;
    complete(run);
    delivery_.keep(run);
}

void RunUnderWay::mark_incomplete(results::Run& run, const std::string& why) {
    run.valid = false;
    run.exit_code = static_cast<int>(base::ExitCode::environment);
    run.warnings.insert(run.warnings.begin(), "the run is NOT COMPLETE: " + why);
}

void RunUnderWay::used(double seconds) {
    start_ =
        Clock::now() - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

void RunUnderWay::deliver(results::Run& run, TerminalProgress& progress, const ShowsRun& show) {
    const bool root = job_.session.is_root();
    quiet_ = place_.since_then();
    progress.activity(root ? "storing the run" : "waiting for rank 0, which stores the run");
    progress.finish();  // nothing is drawn into the answer
    comm::together_politely(
        job_.session.control(),
        [&] {
            if (!root) return;
            const base::Unhurried unhurried;  // nothing may end the job before the run is delivered
            deliver_alone(run, show);
        },
        [] {});
}

void RunUnderWay::deliver_alone(results::Run& run, const ShowsRun& show) {
    complete(run);
    const Shown shown = show(run);
    delivery_.deliver(run, shown.answer, shown.epilogue);
    if (run.exit_code != 0 && !run.warnings.empty()) base::log::error(run.warnings.front());
}

void RunUnderWay::complete(results::Run& run) const {
    run.id = id_;
    run.command = job_.experiment.command();
    run.argv = job_.command_line;
    run.label = job_.options.text("label");
    run.started_utc = base::utc_iso(started_);
    run.duration_s = base::seconds_since(start_);
    run.version = version();
    run.git_revision = git_revision();
    run.config = settings_of(job_.options);
    run.hosts =
        host_rows(launch_.placements, job_.options.has("device") && job_.options.text("device") == "cuda");
    run.warnings.insert(run.warnings.end(), launch_.warnings.begin(), launch_.warnings.end());
    experiments::add_doubts(run);
    for (const auto& [key, value] : host::facts_of(quiet_)) run.context.push_back({"place", key, value});
    for (const auto& finding : host::check_quiet(quiet_)) run.warnings.push_back(finding.sentence);
    if (build_type() != "Release")
        run.warnings.push_back("this is a " + build_type() +
                               " build: its times are not those of a Release build");
    add_context(run);
}

// That the machine does not tell of itself is no reason to lose what was measured on it.
void RunUnderWay::add_context(results::Run& run) const {
    try {
        const auto context = collect_context(job_.options.text("output"));
        run.context.insert(run.context.begin(), context.begin(), context.end());
    } catch (const std::exception& error) {
        run.warnings.push_back(fmt::format("the run's surroundings could not be recorded: {}", error.what()));
    }
}

}  // namespace ranklab::app
