#include "app/run_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>

#include "app/context.hpp"
#include "app/version.hpp"
#include "base/number_ranges.hpp"
#include "base/text.hpp"
#include "experiments/shared/doubts.hpp"
#include "results/rows.hpp"

namespace ranklab::app {
namespace {

std::int64_t unix_now() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

// A row a rank, as seff tells of a job.
results::Table use_table(const std::vector<host::Span>& spans) {
    results::Rows table("job_use");
    for (const auto& span : spans)
        table.add({std::int64_t{span.rank}, span.host, span.seconds, span.own_s,
                   std::int64_t{span.looks ? span.cpus : 0}, span.peak_rss_bytes, span.memory_limit_bytes});
    return std::move(table).table();
}

results::Table start_up_table(const std::vector<StartUpPart>& parts) {
    results::Rows table("start_up");
    for (const auto& part : parts)
        table.add({part.name, part.mean_s, part.most_s, std::int64_t{part.slowest_rank}});
    return std::move(table).table();
}

}  // namespace

RunFacts::RunFacts(Session& session, const Launch& launch, const options::Options& options)
    : session_(session),
      launch_(launch),
      options_(options),
      started_(unix_now()),
      place_(session.control(), launch.placements) {
    place_.begin();
}

experiments::CountedPart RunFacts::counted_part() {
    return {[this] { place_.counting_begins(); }, [this] { place_.counting_ends(); }};
}

void RunFacts::gather() {
    spans_ = place_.spans();
    start_up_ = gather_parts(session_.control(), session_.start_up());
}

void RunFacts::complete(std::vector<results::Run>& runs, const std::string& command,
                        const std::string& command_line) const {
    for (auto& run : runs) {
        run.command = command;
        run.argv = command_line;
        complete_one(run);
    }
    runs.back().tables.push_back(use_table(spans_));
    runs.back().tables.push_back(start_up_table(start_up_));
}

void RunFacts::complete_one(results::Run& run) const {
    run.id = results::make_run_id(started_);
    run.label = options_.text("label");
    run.started_utc = base::utc_iso(started_);
    if (run.duration_s == 0) run.duration_s = base::seconds_since(began_);
    run.version = version();
    run.git_revision = git_revision();
    if (run.config.empty()) run.config = experiments::settings_of(options_);
    run.hosts = host_rows(launch_.placements, options_.has("device") && options_.is("device", "cuda"));
    experiments::add_doubts(run);
    for (const auto& [key, value] : host::facts_of(host::quiet_of(spans_)))
        run.context.push_back({"place", key, value});
    add_warnings(run);
    add_context(run);
}

// The reason of an exit code, or why the run is not valid, stays first.
void RunFacts::add_warnings(results::Run& run) const {
    auto warnings = launch_.warnings;
    const auto findings = host::check_quiet(host::quiet_of(spans_));
    for (const auto& finding : findings) warnings.push_back(finding.sentence());
    run.context.push_back({"place", "quiet", findings.empty() ? "yes" : "no"});
    if (build_type() != "Release")
        warnings.push_back("this is a " + build_type() +
                           " build: its times are not those of a Release build");
    const bool has_reason = run.exit_code != 0 || !run.valid;
    run.warnings.insert(has_reason ? run.warnings.end() : run.warnings.begin(), warnings.begin(),
                        warnings.end());
}

// Missing facts of the machine must not discard measurements.
void RunFacts::add_context(results::Run& run) const {
    try {
        const auto context = collect_context(options_.text("output"), launch_.placements);
        run.context.insert(run.context.begin(), context.begin(), context.end());
    } catch (const std::exception& error) {
        run.warnings.push_back(fmt::format("the machine's facts could not be recorded: {}", error.what()));
    }
}

}  // namespace ranklab::app
