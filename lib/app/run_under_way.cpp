#include "app/run_under_way.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <set>
#include <utility>

#include "app/context.hpp"
#include "app/json_file.hpp"
#include "app/many_samples.hpp"
#include "app/version.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/motion.hpp"
#include "base/number_ranges.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/doubts.hpp"
#include "results/kept_samples.hpp"
#include "results/rows.hpp"

namespace ranklab::app {
namespace {

// What seff tells of a job, by rank.
results::Table use_table(const std::vector<host::Span>& spans) {
    results::Rows table("job_use");
    for (const auto& span : spans)
        table.add({std::int64_t{span.rank}, span.host, span.seconds, span.own_s,
                   std::int64_t{span.looks ? span.cpus : 0}, span.peak_rss_bytes, span.memory_limit_bytes});
    return std::move(table).table();
}

// The same of each host's ranks together.
results::Table host_use_table(const std::vector<host::Span>& spans) {
    struct Host {
        host::Span sum;
        std::vector<int> ranks;
    };
    std::map<std::string, std::size_t> places;
    std::vector<Host> hosts;
    for (const auto& span : spans) {
        const auto [place, fresh] = places.try_emplace(span.host, hosts.size());
        if (fresh) hosts.emplace_back().sum.host = span.host;
        auto& [sum, ranks] = hosts[place->second];
        ranks.push_back(span.rank);
        sum.seconds = std::max(sum.seconds, span.seconds);
        sum.own_s += span.own_s;
        sum.cpus += span.looks ? span.cpus : 0;
        sum.peak_rss_bytes += span.peak_rss_bytes;
        sum.memory_limit_bytes = std::max(sum.memory_limit_bytes, span.memory_limit_bytes);
    }
    results::Rows table("host_use");
    for (const auto& [sum, ranks] : hosts)
        table.add({sum.host, base::few_ranges(ranks), sum.seconds, sum.own_s, std::int64_t{sum.cpus},
                   sum.peak_rss_bytes, sum.memory_limit_bytes});
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
    if (job_.crew->is_aboard()) place_.emplace(job_.crew->control(), job_.launch().placements);
}

experiments::Surroundings RunUnderWay::surroundings(base::ProgressSink& progress, bool first) {
    place_->begin();
    tells_start_up_ = first;
    experiments::Surroundings around{job_.crew->control(), job_.options, progress,
                                     first ? &job_.session.start_up() : nullptr};
    around.counting = {[this] { place_->counting_begins(); }, [this] { place_->counting_ends(); }};
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
    spans_ = place_->spans();
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
    write_json_file(job_.options, run);
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
    const bool by_rank = results::kept_samples(run) != results::KeptSamples::summary;
    if (!spans_.empty()) run.tables.push_back(by_rank ? use_table(spans_) : host_use_table(spans_));
    if (!start_up_.empty()) run.tables.push_back(start_up_table(start_up_));
    for (const auto& [key, value] : host::facts_of(host::quiet_of(spans_)))
        run.context.push_back({"place", key, value});
    add_warnings_of_place(run);
    const std::string build =
        "this is a " + build_type() + " build: its times are not those of a Release build";
    if (build_type() != "Release" && !is_said(run, build)) run.warnings.push_back(build);
    add_context(run);
}

// Before what may follow from it, but for the reason of an exit code, or why it is not valid: that stands
// first.
void RunUnderWay::add_warnings_of_place(results::Run& run) const {
    auto warnings = job_.launch().warnings;
    const auto findings = host::check_quiet(host::quiet_of(spans_));
    for (const auto& finding : findings) warnings.push_back(finding.sentence());
    std::erase_if(warnings, [&](const auto& warning) { return is_said(run, warning); });
    if (!spans_.empty()) run.context.push_back({"place", "quiet", findings.empty() ? "yes" : "no"});
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
