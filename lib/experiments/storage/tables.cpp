#include "experiments/storage/tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "io/binding_ceiling.hpp"
#include "measure/gather.hpp"
#include "results/rows.hpp"
#include "stats/summary.hpp"

namespace ranklab::experiments {
namespace {

using base::IoPhase;
using base::IoTally;

constexpr double kMiB = 1048576;
constexpr std::size_t kPhases = base::kIoPhaseCount;

// The parts of a record's own time; the others are the strategy's.
bool of_a_record(IoPhase phase) {
    return phase != IoPhase::send && phase != IoPhase::wait;
}

struct Profile {
    struct Row {
        std::string phase;
        IoTally own;
        double with_parts;
    };
    std::vector<Row> rows;

    results::Table table() const {
        double sum = 0;
        for (const auto& row : rows) sum += row.own.total_s;
        results::Rows table("io_phases");
        for (const auto& [phase, own, with_parts] : rows)
            table.add({phase, static_cast<std::int64_t>(own.calls), own.total_s,
                       own.calls > 0 ? own.total_s / own.calls : 0, with_parts,
                       sum > 0 ? 100 * own.total_s / sum : 0, own.longest_s});
        return std::move(table).table();
    }
};

// All ranks' tallies of the counted repetitions, each summed; the job's own last.
std::vector<IoTally> tallies(const StorageRecord& record, std::size_t warmup, comm::Communicator& control) {
    base::IoTimes all;
    double job = 0;
    double longest_job = 0;
    double repetitions = 0;
    for (std::size_t i = warmup; i < record.writes.size(); ++i) {
        all.merge(record.writes[i].times);
        job += record.writes[i].job_s;
        longest_job = std::max(longest_job, record.writes[i].job_s);
        repetitions += record.writes[i].job_s > 0 ? 1 : 0;
    }
    std::vector<double> sums, longest;
    for (std::size_t i = 0; i <= kPhases; ++i) {
        const IoTally& tally = i < kPhases ? all.of(static_cast<IoPhase>(i)) : all.records();
        sums.insert(sums.end(), {tally.calls, tally.total_s});
        longest.push_back(tally.longest_s);
    }
    sums.insert(sums.end(), {repetitions, job});
    longest.push_back(longest_job);
    const auto summed = measure::gather_columns(control, sums).sum_over_ranks();
    const auto largest = measure::gather_columns(control, longest).max_over_ranks();
    std::vector<IoTally> result;
    for (std::size_t i = 0; i < largest.size(); ++i)
        result.push_back({summed[2 * i], summed[2 * i + 1], largest[i]});
    return result;
}

results::Table phases_table(const StorageRecord& record, std::size_t warmup, comm::Communicator& control) {
    const auto all = tallies(record, warmup, control);
    const IoTally& records = all[kPhases];
    const IoTally& job = all[kPhases + 1];
    double in_records = 0;
    double beside = 0;
    Profile profile;
    for (std::size_t i = 0; i < kPhases; ++i) {
        if (!(all[i].calls > 0)) continue;
        (of_a_record(static_cast<IoPhase>(i)) ? in_records : beside) += all[i].total_s;
        profile.rows.push_back({std::string(base::kIoPhaseNames[i]), all[i], all[i].total_s});
    }
    const double record_rest = std::max(0.0, records.total_s - in_records);
    const double job_rest = std::max(0.0, job.total_s - in_records - beside - record_rest);
    profile.rows.push_back({"record", {records.calls, record_rest, records.longest_s}, records.total_s});
    profile.rows.push_back({"job", {job.calls, job_rest, job.longest_s}, job.total_s});
    return profile.table();
}

// A row per rank that took part.
results::Table ranks_table(const StorageRecord& record, std::size_t warmup, int participants,
                           comm::Communicator& control) {
    base::IoTimes all;
    double job = 0;
    double first = 0;
    double last = 0;
    const auto counted = static_cast<double>(record.writes.size() - warmup);
    for (std::size_t i = warmup; i < record.writes.size(); ++i) {
        const WriteTrial& write = record.writes[i];
        all.merge(write.times);
        job += write.job_s;
        first += write.times.first_open_s() - write.begin_s;
        last += write.times.last_close_s() - write.begin_s;
    }
    std::vector<double> mine{all.records().calls / counted, all.bytes() / kMiB / counted, job / counted};
    for (std::size_t i = 0; i < kPhases; ++i)
        mine.push_back(all.of(static_cast<IoPhase>(i)).total_s / counted);
    mine.insert(mine.end(), {first / counted, last / counted});
    const auto gathered = measure::gather_columns(control, mine);

    std::vector<std::string> names{"records", "MiB", "job_s"};
    for (const auto phase : base::kIoPhaseNames) names.push_back(std::string(phase) + "_s");
    names.insert(names.end(), {"first_open_s", "last_close_s"});
    std::vector<std::int64_t> rank;
    for (int r = 0; r < participants; ++r) rank.push_back(r);
    results::Table table{"io_ranks", {{"rank", rank}}};
    for (std::size_t row = 0; row < names.size(); ++row) {
        std::vector<double> values;
        for (int r = 0; r < participants; ++r)
            values.push_back(gathered.at(row, static_cast<std::size_t>(r)));
        const bool nothing = std::all_of(values.begin(), values.end(), [](double v) { return v == 0; });
        if (row < 3 || !nothing) table.columns.push_back({names[row], values});
    }
    return table;
}

double resident_percent(const io::CacheEvidence& seen) {
    if (!seen.before || seen.before->bytes == 0) return stats::kNone;
    return 100 * static_cast<double>(seen.before->resident) / static_cast<double>(seen.before->bytes);
}

results::Table reads_table(const StorageRecord& record, const StorageOptions& options,
                           const std::vector<io::CacheEvidence>& caches, comm::Communicator& control) {
    results::Rows table("io_reads");
    for (std::size_t i = 0; i < record.reads.size(); ++i) {
        const ReadPass& read = record.reads[i];
        const double slowest =
            measure::gather_columns(control, {read.trial.seconds()}).max_over_ranks().front();
        const double mib =
            measure::gather_columns(control, {read.trial.bytes}).sum_over_ranks().front() / kMiB;
        const io::CacheEvidence& seen = caches[i];
        table.add({std::int64_t{read.repetition}, read.kind, order_of(read.who), slowest, mib,
                   slowest > 0 ? mib / slowest : stats::kNone, resident_percent(seen),
                   seen.delivered ? static_cast<double>(*seen.delivered) / kMiB : stats::kNone,
                   options.job.files == 0 ? "nothing was read" : io::label_of(seen).text,
                   seen.file_system.name});
    }
    return std::move(table).table();
}

// What the rung made of the ceilings: the slowest writer's phases, of its fastest repetition as the ceilings
// are of theirs.
io::RungEffort effort_of(const StorageRecord& record, std::size_t warmup, const StorageOptions& options,
                         int participants, comm::Communicator& control) {
    std::vector<double> mine;
    for (std::size_t i = warmup; i < record.writes.size(); ++i) {
        mine.push_back(record.writes[i].slowest_write_s);
        mine.push_back(record.writes[i].slowest_create_s);
    }
    const auto slowest = measure::gather_columns(control, mine).max_over_ranks();
    std::vector<double> write, create;
    for (std::size_t i = 0; i < slowest.size(); i += 2) {
        write.push_back(slowest[i]);
        create.push_back(slowest[i + 1]);
    }
    return {.records = static_cast<double>(options.job.files),
            .bytes = static_cast<double>(options.job.files) *
                     static_cast<double>(options.strategy.bytes_per_record(options.job.size)),
            .shared_file = options.strategy.shared_file,
            .write_s = *std::min_element(write.begin(), write.end()),
            .create_s = *std::min_element(create.begin(), create.end()),
            .writers = participants * io::writers_at_once(options.strategy, options.job),
            .measured = static_cast<int>(record.ceilings.size())};
}

// A reading that should have been cold and cannot be shown to be is no measurement.
void add_reads(results::Run& run, const StorageRecord& record, const StorageOptions& options,
               comm::Communicator& control) {
    std::vector<io::CacheEvidence> caches;
    for (const auto& read : record.reads) caches.push_back(io::merged_over_ranks(control, read.trial.cache));
    run.tables.push_back(reads_table(record, options, caches, control));
    for (std::size_t i = 0; options.flag("cold") && i < caches.size(); ++i) {
        const auto label = io::label_of(caches[i]);
        if (record.reads[i].kind != "read 1" || io::proof_of_cold(label) || run.exit_code != 0) continue;
        run.valid = false;
        run.exit_code = static_cast<int>(base::ExitCode::invalid_measurement);
        run.warnings.insert(
            run.warnings.begin(),
            fmt::format("--cold asked for a reading from the device, but the reading was '{}': {}",
                        label.text, label.why));
    }
}

results::Table ceilings_table(const io::Ceilings& ceilings, const io::RungEffort& effort) {
    results::Rows table("ceilings");
    const auto binding = io::binding_ceiling(ceilings, effort);
    for (const auto kind : {io::CeilingKind::memory_copy, io::CeilingKind::write_own,
                            io::CeilingKind::write_shared, io::CeilingKind::create}) {
        const auto one = io::share_of_ceiling(kind, ceilings, effort);
        if (!one) continue;
        const bool files = kind == io::CeilingKind::create;
        const bool nearest = binding && binding->kind == kind;
        table.add({std::string(io::name_of(kind)), ceilings.of(kind).per_second() / (files ? 1 : kMiB),
                   files ? "files/s" : "MiB/s", one->ceiling_s, one->rung_s, one->percent,
                   !nearest            ? ""
                   : one->mark.empty() ? "yes"
                                       : "does not bind",
                   one->mark});
    }
    return std::move(table).table();
}

}  // namespace

void add_storage_tables(results::Run& run, const StorageRecord& record, const StorageOptions& options,
                        int participants, comm::Communicator& control) {
    const auto warmup = std::min(record.writes.size(), static_cast<std::size_t>(options.warmup()));
    if (record.writes.size() > warmup) {
        run.tables.push_back(phases_table(record, warmup, control));
        run.tables.push_back(ranks_table(record, warmup, participants, control));
    }
    if (!record.reads.empty()) add_reads(run, record, options, control);
    if (options.ceilings && record.writes.size() > warmup && options.job.files > 0)
        run.tables.push_back(ceilings_table(io::best_of(record.ceilings),
                                            effort_of(record, warmup, options, participants, control)));
    run.tables.insert(run.tables.end(), record.tables.begin(), record.tables.end());
    run.warnings.insert(run.warnings.end(), record.warnings.begin(), record.warnings.end());
}

}  // namespace ranklab::experiments
