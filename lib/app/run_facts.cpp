#include "app/run_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "app/context.hpp"
#include "app/version.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/doubts.hpp"
#include "host/findings.hpp"
#include "results/rows.hpp"

namespace ranklab::app {
namespace {

std::int64_t unix_now() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

// The figures that seff tells of a job, by rank.
results::Table use_table(const std::vector<host::Use>& uses) {
    results::Rows table("job_use");
    for (const auto& use : uses)
        table.add({std::int64_t{use.rank}, use.host, use.seconds, use.cpu_s, std::int64_t{use.host_cpus},
                   use.peak_rss_bytes, use.memory_asked_bytes});
    return std::move(table).table();
}

// Collective: of the parts that all ranks have, in their order.
std::vector<StartUpPart> gather_parts(comm::Communicator& control, const host::StartUp& mine) {
    const auto ranks = comm::gather_values(control, mine.parts());
    std::size_t common = ranks.front().size();
    for (const auto& parts : ranks) common = std::min(common, parts.size());
    std::vector<StartUpPart> all;
    for (std::size_t i = 0; i < common; ++i) {
        auto& part = all.emplace_back(StartUpPart{.name = ranks.front()[i].name});
        for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
            const double seconds = ranks[rank][i].seconds;
            part.mean_s += seconds / base::real(ranks.size());
            if (rank != 0 && seconds <= part.most_s) continue;
            part.most_s = seconds;
            part.slowest_rank = static_cast<int>(rank);
        }
    }
    return all;
}

results::Table start_up_table(const std::vector<StartUpPart>& parts) {
    results::Rows table("start_up");
    for (const auto& part : parts)
        table.add({part.name, part.mean_s, part.most_s, std::int64_t{part.slowest_rank}});
    return std::move(table).table();
}

}  // namespace

RunFacts::RunFacts(Session& session, const Launch& launch, const options::Options& options,
                   const experiments::Experiment& experiment)
    : session_(session),
      launch_(launch),
      options_(options),
      experiment_(experiment),
      common_(options.fields<vocabulary::CommonSettings>()),
      started_(unix_now()),
      meter_(session.control().rank(), launch.placements) {
    meter_.begin();
}

experiments::CountedPart RunFacts::counted_part() {
    return {[this] { meter_.begin(); }, [this] { meter_.end(); }};
}

void RunFacts::gather() {
    uses_ = comm::gather_values(session_.control(), meter_.use());
    start_up_ = gather_parts(session_.control(), session_.start_up());
}

void RunFacts::complete(std::vector<results::Run>& runs, const std::string& command_line) const {
    for (auto& run : runs) {
        run.command = experiment_.command();
        run.argv = command_line;
        complete_one(run);
    }
    runs.back().tables.push_back(use_table(uses_));
    runs.back().tables.push_back(start_up_table(start_up_));
}

void RunFacts::complete_one(results::Run& run) const {
    run.id = results::make_run_id(started_);
    run.label = common_.label;
    run.started_utc = base::utc_iso(started_);
    if (run.duration_s == 0) run.duration_s = base::seconds_since(began_);
    run.version = version();
    run.git_revision = git_revision();
    if (run.config.empty()) run.config = experiments::settings_of(options_);
    run.hosts = host_rows(launch_.placements, experiment_.may_use_gpus(options_));
    experiments::add_doubts(run);
    add_warnings(run);
    add_context(run);
}

// Behind the run's own: its first one may say why it is not valid or not complete.
void RunFacts::add_warnings(results::Run& run) const {
    auto warnings = launch_.warnings;
    const auto findings = host::findings_of_run({.uses = uses_});
    for (const auto& finding : findings) warnings.push_back(finding.sentence());
    const auto loads = host::other_loads(uses_);
    const auto most = std::ranges::max_element(loads, {}, &host::OtherLoad::cpus_busy);
    if (most != loads.end()) {
        run.context.push_back({"place", "others_cores", fmt::format("{:.2f}", most->cpus_busy)});
        run.context.push_back({"place", "others_cores_host", most->host});
        run.context.push_back({"place", "quiet", findings.empty() ? "yes" : "no"});
    }
    if (build_type() != "Release")
        warnings.push_back("this is a " + build_type() +
                           " build: its times are not those of a Release build");
    run.warnings.insert(run.warnings.end(), warnings.begin(), warnings.end());
}

// Missing facts of the machine must not discard measurements.
void RunFacts::add_context(results::Run& run) const {
    try {
        const auto context = collect_context(common_.output, launch_.placements);
        run.context.insert(run.context.begin(), context.begin(), context.end());
    } catch (const std::exception& error) {
        run.warnings.push_back(fmt::format("the machine's facts could not be recorded: {}", error.what()));
    }
}

}  // namespace ranklab::app
