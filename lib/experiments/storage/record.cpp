#include "experiments/storage/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <set>
#include <span>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/measurements.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "host/process.hpp"
#include "measure/samples.hpp"
#include "vocabulary/measurements.hpp"
#include "vocabulary/names.hpp"

namespace ranklab::experiments {
namespace {

namespace fact = vocabulary::fact;
using base::IoPhase;

// Returns the seconds from the first open to the last close of any rank, per writing: the aggregate
// bandwidth is over this time. Times count from the barrier, since clocks of nodes differ.
std::vector<double> spans_of(const RankMeasurements& of_ranks,
                             const std::vector<Writing>& writings) {
    std::vector<double> spans = of_ranks.largest(
        column_of(writings, [](const auto& w) { return w.times.last_close_s() - w.begin_s; }));
    // The negative of the earliest open after the barrier.
    const auto begins = of_ranks.largest(
        column_of(writings, [](const auto& w) { return w.begin_s - w.times.first_open_s(); }));
    for (std::size_t i = 0; i < spans.size(); ++i) spans[i] += begins[i];
    return spans;
}

// Adds a rate over the counted writings; none if a writing took no time.
void add_rate(results::Run& run, std::string_view name, const std::vector<double>& counts,
              const std::vector<double>& seconds, std::size_t warmup) {
    const auto costs = std::span(seconds).subspan(warmup);
    if (costs.empty() ||
        !std::ranges::all_of(costs, [](double s) { return std::isfinite(s) && s > 0; }))
        return;
    run.measurements.push_back(rate(name, "repetition", std::span(counts).subspan(warmup), costs));
}

// Rates count 8 B per value, however the file encodes it.
std::vector<double> mib_of_numbers(std::vector<double> records, const StorageOptions& options) {
    for (double& count : records) count *= 8 * base::real(options.values_per_record()) / kMiB;
    return records;
}

void add_writing(results::Run& run, const StorageRecord& record, const StorageOptions& options,
                 RankMeasurements& of_ranks, std::size_t warmup) {
    const auto& writings = record.writings;
    if (writings.empty()) return;
    const auto job = column_of(writings, &Writing::job_s);
    of_ranks.add(vocabulary::kJobTime, "repetition", job, warmup);
    of_ranks.add("setup_time_s", "repetition", writings, &Writing::open_s, warmup);
    for (std::size_t i = 0; i < base::kIoPhaseCount; ++i)
        of_ranks.add_if_any(
            fmt::format("{}_time_s", base::kIoPhaseNames[i]), "repetition", writings,
            [&](const Writing& w) { return w.times.of(static_cast<IoPhase>(i)).total_s; }, warmup);
    const auto bytes =
        of_ranks.sums(column_of(writings, [](const Writing& w) { return w.times.bytes(); }));
    const auto records = of_ranks.sums(
        column_of(writings, [](const Writing& w) { return w.times.records().calls; }));
    run.measurements.push_back(one_column("file_bytes", "run", "sum", {bytes.back()}));
    const auto spans = spans_of(of_ranks, writings);
    add_rate(run, vocabulary::kWriteRate, mib_of_numbers(records, options), spans, warmup);
    add_rate(run, vocabulary::kFileRate, records, spans, warmup);
    of_ranks.add_imbalance(
        std::accumulate(job.begin() + static_cast<std::ptrdiff_t>(warmup), job.end(), 0.0));
}

void add_reading(results::Run& run, const StorageRecord& record, const StorageOptions& options,
                 RankMeasurements& of_ranks) {
    std::vector<ReadPass> rated;
    std::ranges::copy_if(record.passes, std::back_inserter(rated),
                         [](const ReadPass& pass) { return pass.kind == kRatedPass; });
    if (rated.empty()) return;
    const auto times = column_of(rated, &ReadPass::seconds);
    of_ranks.add(vocabulary::kReadTime, "repetition", times);
    const auto counts =
        mib_of_numbers(of_ranks.sums(column_of(rated, &ReadPass::records)), options);
    add_rate(run, vocabulary::kReadRate, counts, of_ranks.largest(times), 0);
}

// The comparisons of all ranks.
struct Comparison {
    double elements = 0, wrong = 0, wrong_records = 0;
    bool complete = false;  ///< every element was compared after every counted writing
    std::string readers;    ///< which ranks read, "read by other ranks of the same node"
    std::string first;      ///< describes the first wrong element of the lowest rank that has one
};

Comparison comparison_of(const StorageRecord& record, const StorageOptions& options,
                         comm::Communicator& control) {
    Comparison all;
    std::string mine;
    double records = 0, wrong = 0, wrong_records = 0;
    for (const auto& pass : record.passes) {
        wrong += base::real(pass.wrong);
        wrong_records += base::real(pass.wrong_records);
        if (mine.empty()) mine = pass.first_wrong;
        if (!pass.compared) continue;
        records += base::real(pass.records);
        const std::string words = words_of(pass.who, options.entry.uses_workers);
        if (all.readers.find(words) == std::string::npos)
            all.readers += (all.readers.empty() ? "" : ", and ") + words;
    }
    const auto sums = measure::sums_of_ranks(control, {records, wrong, wrong_records});
    all.elements = sums[0] * base::real(options.values_per_record());
    all.wrong = sums[1];
    all.wrong_records = sums[2];
    const auto writings =
        options.write() ? record.writings.size() - record.warmup(options) : std::size_t{1};
    all.complete = options.verify() && writings > 0 && sums[0] > 0 &&
                   sums[0] >= base::real(options.files) * base::real(writings);
    for (const auto& text : comm::gather_texts(control, mine))
        if (all.first.empty()) all.first = text;
    return all;
}

void add_verdict(results::Run& run, const StorageOptions& options, const Comparison& all) {
    constexpr const char* kCheck = "every value is as computed";
    run.measurements.push_back(one_column("wrong_elements", "run", "sum", {all.wrong}));
    const char* why = !options.read()     ? "--write-only"
                      : !options.verify() ? "--no-verify"
                                          : "not all records were read";
    CheckResult result{kCheck, CheckOutcome::not_verified, why};
    if (all.wrong_records > 0)
        result = {kCheck, CheckOutcome::failed,
                  fmt::format("{}: {:.0f} elements in {:.0f} records are wrong when read back; "
                              "first: {}",
                              options.entry.name, all.wrong, all.wrong_records, all.first)};
    else if (all.complete)
        result = {kCheck, CheckOutcome::passed,
                  fmt::format("{:.0f} elements, bit by bit, {}", all.elements, all.readers)};
    else
        run.warnings.push_back(fmt::format("the written files are NOT VERIFIED ({})", why));
    fill_verdicts(run, {result});
}

// Adds the folder, the file systems on which the ranks find it, and properties of the strategy.
void add_facts(results::Run& run, const StorageOptions& options, comm::Communicator& control) {
    std::error_code unknown;
    const auto folder = std::filesystem::absolute(options.directory, unknown).lexically_normal();
    const auto all = comm::gather_texts(control, base::file_system_at(options.directory).name);
    const std::set<std::string> found(all.begin(), all.end());
    const auto& entry = options.entry;
    const auto add = [&](const vocabulary::FactName& name, std::string value) {
        run.context.push_back({std::string(name.section), std::string(name.key), std::move(value)});
    };
    add(fact::kFileDirectory, folder.string());
    add(fact::kFileSystem, base::join({found.begin(), found.end()}, " "));
    add(fact::kParticipants, fmt::to_string(entry.participants(control.world_size())));
    add(fact::kWorkerProcesses, fmt::to_string(entry.workers(options)));
    add(fact::kBytesPerValue, fmt::to_string(entry.bytes_per_value));
    run.add_fact(fact::kIsBaseline, vocabulary::yes_or_no(entry.baseline));
}

void mark_end(results::Run& run, const StorageRecord& record, const StorageOptions& options) {
    const auto how_far =
        fmt::format("after {} of {} repetitions", record.writings.size() - record.warmup(options),
                    options.repetitions);
    const int signal = std::max(0, record.ended_by - 128);
    mark_early_end(run, record.hit_time_limit, signal, how_far);
    if (!run.valid || record.ended_by == 0 || signal != 0) return;
    run.exit_code = record.ended_by;
    run.mark_incomplete("it failed " + how_far);
}

}  // namespace

void StorageRecord::add(Repetition made, const StorageOptions& options,
                        const io::Strategy& strategy) {
    std::ranges::move(made.passes, std::back_inserter(passes));
    std::ranges::move(made.ceilings, std::back_inserter(ceilings));
    if (!options.write()) return;
    writings.push_back(std::move(made.writing));
    tables = strategy.tables();
    warnings.clear();
    for (const auto& [sentence, settings] : strategy.warnings())
        warnings.push_back(options::user_message(sentence, settings));
}

std::size_t StorageRecord::warmup(const StorageOptions& options) const {
    return std::min(writings.size(), static_cast<std::size_t>(options.warmup()));
}

void fill_storage_run(results::Run& run, const StorageRecord& record, const StorageOptions& options,
                      comm::Communicator& control) {
    add_verdict(run, options, comparison_of(record, options, control));
    mark_end(run, record, options);
    add_convergence(run, record.convergence, "repetitions", options.repetitions);
    RankMeasurements of_ranks(run, control, options.entry.participants(control.world_size()));
    add_writing(run, record, options, of_ranks, record.warmup(options));
    of_ranks.count(control.world_size());
    add_reading(run, record, options, of_ranks);
    of_ranks.count(0);
    of_ranks.add_of_run(vocabulary::kPeakMemory, static_cast<double>(host::peak_rss_bytes()));
    of_ranks.finish();
    add_facts(run, options, control);
    add_storage_tables(run, record, options, control);
    add_statistics(run);
}

}  // namespace ranklab::experiments
