#include "experiments/storage/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/measurements.hpp"
#include "io/ceilings.hpp"
#include "measure/samples.hpp"
#include "results/run.hpp"
#include "stats/summary.hpp"
#include "vocabulary/names.hpp"

namespace ranklab::experiments {
namespace {

using base::IoPhase;
using base::IoTally;

// Sums over one rank's counted writings.
struct Counted {
    base::IoTimes times;
    IoTally job;
    double first_open_s = 0, last_close_s = 0;  // sums; s since each writing began
};

std::vector<Counted> counted_by_rank(const StorageRecord& record, std::size_t warmup,
                                     comm::Communicator& control) {
    Counted mine;
    for (const auto& one : std::span(record.writings).subspan(warmup)) {
        mine.times.merge(one.times);
        if (one.job_s > 0) mine.job.add(one.job_s);
        mine.first_open_s += one.times.first_open_s() - one.begin_s;
        mine.last_close_s += one.times.last_close_s() - one.begin_s;
    }
    return comm::gather_values(control, mine);
}

double phases_s(const base::IoTimes& times) {
    double sum = 0;
    for (std::size_t i = 0; i < base::kIoPhaseCount; ++i)
        sum += times.of(static_cast<IoPhase>(i)).total_s;
    return sum;
}

// A job's time includes its records, and a record's time its phases, except send and wait, which
// lie between records. The rows record and job hold the rest: time outside of all phases.
// `by_workers`: other processes made the records, and the job's own process only sent and waited.
results::Table phases_table(const base::IoTimes& times, const IoTally& job, bool by_workers) {
    const IoTally& records = times.records();
    const double phases = phases_s(times);
    const double beside = times.of(IoPhase::send).total_s + times.of(IoPhase::wait).total_s;
    const double record_rest = std::max(0.0, records.total_s - (phases - beside));
    const double job_rest =
        std::max(0.0, job.total_s - (by_workers ? beside : phases + record_rest));
    const double sum = phases + record_rest + job_rest;
    results::Rows table("io_phases");
    const auto add = [&](std::string_view phase, const IoTally& tally, double own_s) {
        table.add({std::string(phase), static_cast<std::int64_t>(tally.calls), own_s,
                   tally.calls > 0 ? own_s / tally.calls : 0, tally.total_s,
                   sum > 0 ? 100 * own_s / sum : 0, tally.longest_s,
                   tally.calls > 0 ? tally.shortest_s : stats::kNone, tally.deviation_s()});
    };
    for (std::size_t i = 0; i < base::kIoPhaseCount; ++i)
        if (const IoTally& tally = times.of(static_cast<IoPhase>(i)); tally.calls > 0)
            add(base::kIoPhaseNames[i], tally, tally.total_s);
    add("record", records, record_rest);
    add("job", job, job_rest);
    return std::move(table).table();
}

// One row per rank that writes: means over repetitions.
results::Table ranks_table(std::span<const Counted> by_rank, double repetitions) {
    std::vector<std::int64_t> ranks(by_rank.size());
    std::iota(ranks.begin(), ranks.end(), std::int64_t{0});
    results::Table table{"io_ranks", {{"rank", ranks}}};
    const auto add = [&](const std::string& name, bool also_zeros, auto value) {
        std::vector<double> values;
        for (const auto& one : by_rank) values.push_back(value(one) / repetitions);
        if (also_zeros ||
            std::any_of(values.begin(), values.end(), [](double v) { return v != 0; }))
            table.columns.push_back({name, values});
    };
    add("records", true, [](const Counted& one) { return one.times.records().calls; });
    add("MiB", true, [](const Counted& one) { return one.times.bytes() / kMiB; });
    add("job_s", true, [](const Counted& one) { return one.job.total_s; });
    for (std::size_t i = 0; i < base::kIoPhaseCount; ++i)
        add(std::string(base::kIoPhaseNames[i]) + "_s", false,
            [&](const Counted& one) { return one.times.of(static_cast<IoPhase>(i)).total_s; });
    add("first_open_s", false, [](const Counted& one) { return one.first_open_s; });
    add("last_close_s", false, [](const Counted& one) { return one.last_close_s; });
    return table;
}

}  // namespace

results::Table calls_table(const std::vector<results::Run>& runs) {
    results::Rows table("calls");
    for (const auto& run : runs) {
        auto phases = rows_of(run, "io_phases");
        std::ranges::stable_sort(phases, std::greater(),
                                 [](const auto& phase) { return phase.number("total_s"); });
        for (const auto& phase : phases)
            table.add({run.setting(vocabulary::setting::kStrategy), phase.text("phase"),
                       static_cast<std::int64_t>(phase.number("calls")), phase.number("total_s"),
                       phase.number("per_call_s"), phase.number("longest_s"),
                       phase.number("cumulative_s")});
    }
    return std::move(table).table();
}

namespace {

results::Table reads_table(const StorageRecord& record, const StorageOptions& options,
                           const std::vector<io::CacheEvidence>& caches,
                           comm::Communicator& control) {
    const auto seconds =
        measure::largest_of_ranks(control, column_of(record.passes, &ReadPass::seconds));
    const auto records =
        measure::sums_of_ranks(control, column_of(record.passes, &ReadPass::records));
    results::Rows table("io_reads");
    for (std::size_t i = 0; i < record.passes.size(); ++i) {
        const ReadPass& read = record.passes[i];
        const double slowest = seconds[i];
        const io::CacheEvidence& seen = caches[i];
        const double mib = base::real(seen.requested) / kMiB,
                     numbers_mib = 8 * records[i] * base::real(options.values_per_record()) / kMiB;
        table.add(
            {std::int64_t{read.repetition}, read.kind, order_of(read.who), slowest, mib,
             slowest > 0 ? numbers_mib / slowest : stats::kNone,
             seen.before && seen.before->bytes > 0 ? 100 * seen.before->share() : stats::kNone,
             seen.delivered ? static_cast<double>(*seen.delivered) / kMiB : stats::kNone,
             io::label_of(seen).text, seen.file_system.name});
    }
    return std::move(table).table();
}

// Adds the read passes. With --cold, a rated pass not shown to be cold makes the run invalid.
void add_reads(results::Run& run, const StorageRecord& record, const StorageOptions& options,
               comm::Communicator& control) {
    std::vector<io::CacheEvidence> mine;
    for (const auto& pass : record.passes) mine.push_back(pass.cache);
    const auto caches = io::merged_over_ranks(control, mine);
    io::CacheEvidence of_rate;  // of the rated passes
    for (std::size_t i = 0; i < caches.size(); ++i)
        if (record.passes[i].kind == kRatedPass) of_rate = io::merged(of_rate, caches[i]);
    if (of_rate.requested > 0) {
        const auto label = io::label_of(of_rate);
        const bool warm = label.state == io::CacheState::warm;
        run.context.push_back(
            {"storage", "cache",
             warm ? fmt::format("{} {:.0f} %", label.text, 100 * of_rate.before->share())
                  : label.text});
    }
    run.tables.push_back(reads_table(record, options, caches, control));
    for (std::size_t i = 0; options.cold && i < caches.size(); ++i) {
        const auto label = io::label_of(caches[i]);
        if (record.passes[i].kind != kRatedPass || label.state == io::CacheState::cold ||
            run.exit_code != 0)
            continue;
        run.valid = false;
        run.exit_code = static_cast<int>(base::ExitCode::invalid_measurement);
        run.warnings.insert(run.warnings.begin(), fmt::format("--cold: the read pass was '{}'; {}",
                                                              label.text, label.why));
    }
}

// Compares the best ceilings with the fastest repetition, in which the slowest process counts.
results::Table ceilings_table(const StorageRecord& record, const StorageOptions& options,
                              comm::Communicator& control) {
    const auto fastest = [&](double Writing::*seconds) {
        const auto slowest =
            measure::largest_of_ranks(control, column_of(record.writings, seconds));
        return std::ranges::min(std::span(slowest).subspan(record.warmup(options)));
    };
    const io::StrategyTimes times{fastest(&Writing::slowest_write_s),
                                  fastest(&Writing::slowest_create_s)};
    const auto ceilings = io::best_of(record.ceilings);
    results::Rows table("ceilings");
    for (const auto& one : io::shares_of(ceilings, options, options.entry, times)) {
        const bool files = one.kind == io::CeilingKind::create;
        const char* binds = one.nearest ? "yes" : one.mark.empty() ? "" : "not the limit";
        table.add({std::string(io::name_of(one.kind)),
                   ceilings.at(one.kind).per_second() / (files ? 1 : kMiB),
                   files ? "files/s" : "MiB/s", one.ceiling_s, one.strategy_s, one.percent, binds,
                   one.mark});
    }
    return std::move(table).table();
}

}  // namespace

void add_storage_tables(results::Run& run, const StorageRecord& record,
                        const StorageOptions& options, comm::Communicator& control) {
    const auto warmup = record.warmup(options);
    const bool has_written = record.writings.size() > warmup;
    if (has_written) {
        const auto by_rank = counted_by_rank(record, warmup, control);
        Counted all;
        for (const auto& one : by_rank) {
            all.times.merge(one.times);
            all.job.merge(one.job);
        }
        run.tables.push_back(phases_table(all.times, all.job, options.entry.uses_workers));
        run.tables.push_back(
            ranks_table(std::span(by_rank).first(options.entry.participants(control.world_size())),
                        base::real(record.writings.size() - warmup)));
    }
    if (!record.passes.empty()) add_reads(run, record, options, control);
    if (options.measures_ceilings() && has_written)
        run.tables.push_back(ceilings_table(record, options, control));
    run.tables.insert(run.tables.end(), record.tables.begin(), record.tables.end());
    run.warnings.insert(run.warnings.end(), record.warnings.begin(), record.warnings.end());
}

}  // namespace ranklab::experiments
