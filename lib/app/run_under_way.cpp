#include "app/run_under_way.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <set>
#include <utility>

#include "app/context.hpp"
#include "app/many_samples.hpp"
#include "app/version.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/motion.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/doubts.hpp"
#include "host/findings.hpp"
#include "results/kept_samples.hpp"
#include "results/rows.hpp"

namespace ranklab::app {
namespace {

// The figures that seff tells of a job, by rank.
results::Table use_table(const std::vector<host::Use>& uses) {
    results::Rows table("job_use");
    for (const auto& use : uses)
        table.add({std::int64_t{use.rank}, use.host, use.seconds, use.cpu_s, std::int64_t{use.host_cpus},
                   use.peak_rss_bytes, use.memory_asked_bytes});
    return std::move(table).table();
}

results::Table start_up_table(const std::vector<StartUpPart>& parts) {
    results::Rows table("start_up");
    for (const auto& part : parts)
        table.add({part.name, part.mean_s, part.most_s, std::int64_t{part.slowest_rank}});
    return std::move(table).table();
}

// What several runs came to has gathered what each of them said, with how many said it.
bool is_said(const results::Run& run, const std::string& warning) {
    return std::ranges::any_of(run.warnings, [&](const auto& one) { return one.starts_with(warning); });
}

}  // namespace

std::int64_t unix_now() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

RunUnderWay::RunUnderWay(Job job, std::int64_t started, Clock::time_point start, results::LockWait wait)
    : job_(std::move(job)),
      id_(results::make_run_id(started)),
      started_(started),
      start_(start),
      delivery_(job_.options.text("output"), std::move(wait), job_.options.flag("verbose")) {
    if (job_.crew->is_aboard()) meter_.emplace(job_.crew->control().rank(), job_.launch().placements);
}

experiments::Surroundings RunUnderWay::surroundings(base::ProgressSink& progress, bool first) {
    meter_->begin();
    tells_start_up_ = first;
    experiments::Surroundings around{job_.crew->control(), job_.options, progress,
                                     first ? &job_.session.start_up() : nullptr};
    around.counting = {[this] { meter_->begin(); }, [this] { meter_->end(); }};
    if (job_.options.text("output") != "none") {
        around.will_have = [this](std::int64_t rows, const std::string& what) { will_have(rows, what); };
        around.keep = [this](const results::Run& so_far) { keep(so_far); };
    }
    return around;
}

// Once, where several runs of a command have as many.
void RunUnderWay::will_have(std::int64_t rows, const std::string& what) const {
    static std::set<std::string> told;
    if (!job_.session.is_root()) return;
    const auto text =
        many_samples(results::kept_samples(job_.options.text(results::kKeepSamples)),
                     static_cast<std::uint64_t>(job_.crew->size()), static_cast<std::uint64_t>(rows), what);
    if (!text.empty() && told.insert(text).second) base::log::warn(text);
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

void RunUnderWay::mark_incomplete(results::Run& run, const std::string& why, int signal) {
    run.valid = signal != 0;
    run.exit_code = signal != 0 ? 128 + signal : static_cast<int>(base::ExitCode::environment);
    run.warnings.insert(run.warnings.begin(), std::string(results::kNotComplete) + why);
}

void RunUnderWay::used(double seconds) {
    start_ =
        Clock::now() - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

void RunUnderWay::ended() {
    uses_ = comm::gather_values(job_.crew->control(), meter_->use());
    if (tells_start_up_) start_up_ = gather_parts(job_.crew->control(), job_.session.start_up());
}

void RunUnderWay::deliver(results::Run& run, TerminalProgress& progress, const ShowsRun& show) {
    const bool root = job_.session.is_root();
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
    delivery_.deliver(run, show(run));
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
    run.hosts = host_rows(job_.launch().placements,
                          job_.options.has("device") && job_.options.text("device") == "cuda");
    experiments::add_doubts(run);
    if (!uses_.empty()) run.tables.push_back(use_table(uses_));
    if (!start_up_.empty()) run.tables.push_back(start_up_table(start_up_));
    add_warnings_of_launch(run);
    const std::string build =
        "this is a " + build_type() + " build: its times are not those of a Release build";
    if (build_type() != "Release" && !is_said(run, build)) run.warnings.push_back(build);
    add_context(run);
}

// Before what may follow from it, but for the reason of an exit code, or why it is not valid: that stands
// first.
void RunUnderWay::add_warnings_of_launch(results::Run& run) const {
    auto warnings = job_.launch().warnings;
    const auto findings = host::findings_of_run({.uses = uses_});
    for (const auto& finding : findings) warnings.push_back(finding.sentence());
    const auto loads = host::other_loads(uses_);
    if (const auto most = std::ranges::max_element(loads, {}, &host::OtherLoad::cpus_busy);
        most != loads.end()) {
        run.context.push_back({"place", "others_cores", fmt::format("{:.2f}", most->cpus_busy)});
        run.context.push_back({"place", "others_cores_host", most->host});
        run.context.push_back({"place", "quiet", findings.empty() ? "yes" : "no"});
    }
    std::erase_if(warnings, [&](const auto& warning) { return is_said(run, warning); });
    const bool has_reason = run.exit_code != 0 || !run.valid;
    run.warnings.insert(has_reason ? run.warnings.end() : run.warnings.begin(), warnings.begin(),
                        warnings.end());
}

// That the machine does not tell of itself is no reason to lose what was measured on it.
void RunUnderWay::add_context(results::Run& run) const {
    try {
        const auto context = collect_context(job_.options.text("output"), job_.launch().placements);
        run.context.insert(run.context.begin(), context.begin(), context.end());
    } catch (const std::exception& error) {
        run.warnings.push_back(fmt::format("the run's surroundings could not be recorded: {}", error.what()));
    }
}

}  // namespace ranklab::app
