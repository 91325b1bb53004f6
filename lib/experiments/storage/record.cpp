#include "experiments/storage/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/measurements.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/shared/target_ci.hpp"
#include "experiments/shared/verdicts.hpp"
#include "host/process.hpp"
#include "measure/samples.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

using base::IoPhase;

// The aggregate bandwidth counts all bytes from the first open to the last close of any rank. The
// ranks' clocks may differ, so times count from the barrier at which all began.
std::vector<double> spans_of(const RankMeasurements& of_ranks,
                             const std::vector<WriteTrial>& writes) {
    std::vector<double> spans = of_ranks.largest(
        column_of(writes, [](const auto& w) { return w.times.last_close_s() - w.begin_s; }));
    // The maximum of the negative is the minimum.
    const auto begins = of_ranks.largest(
        column_of(writes, [](const auto& w) { return w.begin_s - w.times.first_open_s(); }));
    for (std::size_t i = 0; i < spans.size(); ++i) spans[i] += begins[i];
    return spans;
}

void add_rates(results::Run& run, const std::vector<double>& spans, const std::vector<double>& mib,
               const std::vector<double>& files, std::size_t warmup) {
    const auto counted = [&](const std::vector<double>& all) {
        return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(warmup), all.end());
    };
    const auto costs = counted(spans);
    const bool real =
        std::all_of(costs.begin(), costs.end(), [](double s) { return std::isfinite(s) && s > 0; });
    if (costs.empty() || !real) return;
    run.measurements.push_back(rate(vocabulary::kWriteRate, "repetition", counted(mib), costs));
    run.measurements.push_back(rate(vocabulary::kFileRate, "repetition", counted(files), costs));
}

// Rates count the numbers, in any form of the files.
std::vector<double> mib_of_numbers(std::vector<double> records, const StorageOptions& options) {
    for (double& count : records) count *= 8 * base::real(options.job.values_per_record()) / kMiB;
    return records;
}

void add_writing(results::Run& run, const StorageRecord& record, const StorageOptions& options,
                 RankMeasurements& of_ranks, std::size_t warmup) {
    const auto& writes = record.writes;
    if (writes.empty()) return;
    const auto job = column_of(writes, [](const WriteTrial& w) { return w.job_s; });
    of_ranks.add(vocabulary::kJobTime, "repetition", job, warmup);
    const auto add = [&](const std::string& name, auto value) {
        of_ranks.add(name, "repetition", column_of(writes, value), warmup);
    };
    add("setup_time_s", [](const WriteTrial& w) { return w.open_s; });
    for (std::size_t i = 0; i < base::kIoPhaseCount; ++i) {
        const auto phase = static_cast<IoPhase>(i);
        const auto most = of_ranks.largest(
            column_of(writes, [&](const WriteTrial& w) { return w.times.of(phase).calls; }));
        if (*std::max_element(most.begin(), most.end()) > 0)
            add(fmt::format("{}_time_s", base::kIoPhaseNames[i]),
                [&](const WriteTrial& w) { return w.times.of(phase).total_s; });
    }
    const auto bytes =
        of_ranks.sums(column_of(writes, [](const WriteTrial& w) { return w.times.bytes(); }));
    const auto records = of_ranks.sums(
        column_of(writes, [](const WriteTrial& w) { return w.times.records().calls; }));
    run.measurements.push_back(one_column("file_bytes", "run", "sum", {bytes.back()}));
    add_rates(run, spans_of(of_ranks, writes), mib_of_numbers(records, options), records, warmup);
    of_ranks.add_imbalance(
        std::accumulate(job.begin() + static_cast<std::ptrdiff_t>(warmup), job.end(), 0.0));
}

// The first timed pass of each repetition: later ones read what it left in memory.
void add_reading(results::Run& run, const StorageRecord& record, const StorageOptions& options,
                 RankMeasurements& of_ranks) {
    std::vector<ReadTrial> first;
    for (const auto& pass : record.reads)
        if (pass.kind == kRatedPass) first.push_back(pass.trial);
    if (first.empty()) return;
    const auto times = column_of(first, [](const ReadTrial& t) { return t.seconds(); });
    of_ranks.add(vocabulary::kReadTime, "repetition", times);
    const auto counts = mib_of_numbers(
        of_ranks.sums(column_of(first, [](const ReadTrial& t) { return t.records; })), options);
    const auto costs = of_ranks.largest(times);
    if (std::any_of(costs.begin(), costs.end(), [](double s) { return !(s > 0); })) return;
    run.measurements.push_back(rate(vocabulary::kReadRate, "repetition", counts, costs));
}

// Wrong records of all ranks, and the message of the first rank that found some.
struct Comparison {
    double elements = 0;
    double wrong = 0;
    double wrong_records = 0;
    bool complete = false;  ///< every element was compared after every writing
    std::string readers;    ///< by whom
    std::string first;
};

Comparison comparison_of(const StorageRecord& record, const StorageOptions& options,
                         comm::Communicator& control) {
    Comparison all;
    std::string mine;
    double records = 0;
    for (const auto& pass : record.reads) {
        all.wrong += static_cast<double>(pass.trial.wrong);
        all.wrong_records += static_cast<double>(pass.trial.wrong_records);
        if (mine.empty()) mine = pass.trial.first_wrong;
        if (!pass.trial.compared) continue;
        records += static_cast<double>(pass.trial.records);
        const std::string words = words_of(pass.who, options.entry.uses_workers);
        if (all.readers.find(words) == std::string::npos)
            all.readers += (all.readers.empty() ? "" : ", and ") + words;
    }
    const auto sums = measure::sums_of_ranks(control, {records, all.wrong, all.wrong_records});
    all.elements = sums[0] * static_cast<double>(options.job.values_per_record());
    all.wrong = sums[1];
    all.wrong_records = sums[2];
    const auto times =
        options.write()
            ? record.writes.size() - std::min<std::size_t>(record.writes.size(), options.warmup())
            : 1;
    all.complete = options.verify() && times > 0 && sums[0] > 0 &&
                   sums[0] >= static_cast<double>(options.job.files) * static_cast<double>(times);
    for (const auto& text : comm::gather_texts(control, mine))
        if (all.first.empty()) all.first = text;
    return all;
}

void add_verdict(results::Run& run, const StorageOptions& options, const Comparison& all) {
    constexpr const char* kCheck = "every value is as computed";
    run.measurements.push_back(one_column("wrong_elements", "run", "sum", {all.wrong}));
    if (all.wrong_records > 0) {
        fill_verdicts(
            run,
            {{kCheck, "failed",
              fmt::format("{}: {:.0f} elements are wrong in {:.0f} records as they were read back; "
                          "the first: {}",
                          options.entry.name, all.wrong, all.wrong_records, all.first)}});
        return;
    }
    const char* why = !options.read()     ? "--write-only"
                      : !options.verify() ? "--no-verify"
                                          : "not all was read";
    fill_verdicts(
        run,
        {{kCheck, all.complete ? "passed" : "not verified",
          all.complete ? fmt::format("{:.0f} elements, bit by bit, {}", all.elements, all.readers)
                       : why}});
    if (!all.complete)
        run.warnings.push_back(fmt::format("what was written is NOT VERIFIED ({})", why));
}

// Where the files lay: the folder, and the file systems that the ranks find there.
void add_place(results::Run& run, const StorageOptions& options, comm::Communicator& control) {
    std::error_code unknown;
    const auto folder =
        std::filesystem::absolute(options.job.directory, unknown).lexically_normal();
    const auto all = comm::gather_texts(control, base::file_system_at(options.job.directory).name);
    const std::set<std::string> found(all.begin(), all.end());
    run.context.push_back({"storage", "directory", folder.string()});
    run.context.push_back(
        {"storage", "file_system", base::join({found.begin(), found.end()}, " ")});
}

}  // namespace

void fill_storage_run(results::Run& run, const StorageRecord& record, const StorageOptions& options,
                      comm::Communicator& control) {
    const int participants = options.entry.participants(control.world_size());
    const auto warmup = std::min(record.writes.size(), static_cast<std::size_t>(options.warmup()));
    const auto how_far = fmt::format("after {} of {} repetitions", record.writes.size() - warmup,
                                     options.repetitions);
    add_verdict(run, options, comparison_of(record, options, control));
    if (run.valid && record.hit_time_limit) {
        run.exit_code = static_cast<int>(base::ExitCode::time_limit);
        run.warnings.insert(run.warnings.begin(), "the time limit ended the run " + how_far);
    }
    const int signal = std::max(0, record.ended_by - 128);
    if (run.valid && record.ended_by != 0 && signal == 0) {
        run.exit_code = record.ended_by;
        run.warnings.insert(run.warnings.begin(),
                            fmt::format("{}it failed {}", results::kNotComplete, how_far));
    }
    mark_stopped(run, signal, how_far + ": the numbers cover what was done");
    add_convergence(run, record.convergence, "repetitions", options.repetitions);
    RankMeasurements of_ranks(run, control, participants);
    add_writing(run, record, options, of_ranks, warmup);
    of_ranks.count(control.world_size());
    add_reading(run, record, options, of_ranks);
    of_ranks.count(0);
    of_ranks.add_of_run(vocabulary::kPeakMemory, static_cast<double>(host::peak_rss_bytes()));
    of_ranks.finish();
    add_place(run, options, control);
    for (const auto& [key, value] : {std::pair("participants", participants),
                                     std::pair("workers", options.entry.workers(options.job)),
                                     std::pair("bytes_per_value", options.entry.bytes_per_value)})
        run.context.push_back({"storage", key, fmt::to_string(value)});
    run.context.push_back({"storage", "baseline", options.entry.baseline ? "yes" : "no"});
    add_storage_tables(run, record, options, control);
    add_statistics(run);
}

}  // namespace ranklab::experiments
