#include "experiments/storage/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/measurements.hpp"
#include "experiments/shared/statistics_table.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/shared/target_ci.hpp"
#include "experiments/shared/verdicts.hpp"
#include "experiments/storage/place.hpp"
#include "experiments/storage/tables.hpp"
#include "host/process.hpp"
#include "measure/gather.hpp"
#include "results/vocabulary/measurements.hpp"
#include "stats/summary.hpp"

namespace ranklab::experiments {
namespace {

using base::IoPhase;
using measure::RankSamples;

constexpr double kMiB = 1048576;

// The columns of the ranks that took part: 0 .. count-1.
RankSamples columns_to(const RankSamples& all, std::size_t count) {
    RankSamples some{count, {}};
    for (std::size_t row = 0; row < all.rows(); ++row) {
        for (std::size_t rank = 0; rank < count; ++rank) some.values.push_back(all.at(row, rank));
    }
    return some;
}

// Writes and reads, gathered: rows are repetitions, columns the ranks that took part.
class Gathered {
  public:
    Gathered(comm::Communicator& control, int participants)
        : control_(control), participants_(static_cast<std::size_t>(participants)) {}

    template <class Trials, class Value>
    RankSamples of(const Trials& trials, Value value) const {
        std::vector<double> mine;
        for (const auto& trial : trials) mine.push_back(value(trial));
        return columns_to(measure::gather_columns(control_, mine), participants_);
    }

  private:
    comm::Communicator& control_;
    std::size_t participants_;
};

// Aggregate bandwidth is of all bytes from the first open to the last close, of any rank. The ranks' clocks
// may differ: what they share is the barrier at which each began.
std::vector<double> spans_of(const Gathered& gathered, const std::vector<WriteTrial>& writes) {
    const auto last = gathered.of(writes, [](const auto& w) { return w.times.last_close_s() - w.begin_s; });
    // The maximum of the negative is the minimum.
    const auto first = gathered.of(writes, [](const auto& w) { return w.begin_s - w.times.first_open_s(); });
    std::vector<double> spans = last.max_over_ranks();
    const auto begins = first.max_over_ranks();
    for (std::size_t i = 0; i < spans.size(); ++i) spans[i] += begins[i];
    return spans;
}

void add_rates(results::Run& run, const std::vector<double>& spans, std::vector<double> bytes,
               std::vector<double> files, std::size_t warmup) {
    const auto counted = [&](const std::vector<double>& all) {
        return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(warmup), all.end());
    };
    const auto costs = counted(spans);
    const bool real =
        std::all_of(costs.begin(), costs.end(), [](double s) { return std::isfinite(s) && s > 0; });
    if (costs.empty() || !real) return;
    for (double& value : bytes) value /= kMiB;
    run.measurements.push_back(rate(vocabulary::kWriteRate, "repetition", counted(bytes), costs));
    run.measurements.push_back(rate(vocabulary::kFileRate, "repetition", counted(files), costs));
}

void add_writing(results::Run& run, const StorageRecord& record, const Gathered& gathered,
                 std::size_t warmup) {
    const auto& writes = record.writes;
    if (writes.empty()) return;
    const auto job = gathered.of(writes, [](const WriteTrial& w) { return w.job_s; });
    run.measurements.push_back(by_rank(vocabulary::kJobTime, "repetition", job, warmup));
    const auto add = [&](const std::string& name, auto value) {
        run.measurements.push_back(by_rank(name, "repetition", gathered.of(writes, value), warmup));
    };
    add("setup_time_s", [](const WriteTrial& w) { return w.open_s; });
    for (std::size_t i = 0; i < base::kIoPhaseCount; ++i) {
        const auto phase = static_cast<IoPhase>(i);
        const auto calls = gathered.of(writes, [&](const WriteTrial& w) { return w.times.of(phase).calls; });
        const auto most = calls.max_over_ranks();
        if (*std::max_element(most.begin(), most.end()) > 0)
            add(fmt::format("{}_time_s", base::kIoPhaseNames[i]),
                [&](const WriteTrial& w) { return w.times.of(phase).total_s; });
    }
    const auto bytes = gathered.of(writes, [](const WriteTrial& w) { return w.times.bytes(); });
    const auto files = gathered.of(writes, [](const WriteTrial& w) { return w.times.records().calls; });
    add_rates(run, spans_of(gathered, writes), bytes.sum_over_ranks(), files.sum_over_ranks(), warmup);
    run.measurements.push_back(
        one_column(vocabulary::kLoadImbalance, "run", "max/mean-1",
                   {stats::load_imbalance(job.rows_from(warmup, job.rows()).mean_over_rows())}));
}

// The first timed pass of each repetition: later ones read what it left in memory.
void add_reading(results::Run& run, const StorageRecord& record, const Gathered& gathered) {
    std::vector<ReadTrial> first;
    for (const auto& pass : record.reads)
        if (pass.kind == kRatedPass) first.push_back(pass.trial);
    if (first.empty()) return;
    const auto times = gathered.of(first, [](const ReadTrial& t) { return t.seconds(); });
    run.measurements.push_back(by_rank(vocabulary::kReadTime, "repetition", times));
    auto counts = gathered.of(first, [](const ReadTrial& t) { return t.bytes; }).sum_over_ranks();
    const auto costs = times.max_over_ranks();
    if (std::any_of(costs.begin(), costs.end(), [](double s) { return !(s > 0); })) return;
    for (double& count : counts) count /= kMiB;
    run.measurements.push_back(rate(vocabulary::kReadRate, "repetition", counts, costs));
}

// What all ranks found wrong, the sentence of the first of them.
struct Comparison {
    double elements = 0;
    double wrong = 0;
    double wrong_records = 0;
    bool complete = false;  ///< every element was compared after every writing
    std::string readers;    ///< by whom
    std::string first;
};

Comparison compared(const StorageRecord& record, const StorageOptions& options, comm::Communicator& control) {
    Comparison all;
    std::string mine;
    double records = 0;
    for (const auto& pass : record.reads) {
        all.wrong += static_cast<double>(pass.trial.wrong);
        all.wrong_records += static_cast<double>(pass.trial.wrong_records);
        if (mine.empty()) mine = pass.trial.first_wrong;
        if (!pass.trial.compared) continue;
        records += static_cast<double>(pass.trial.records);
        const std::string words = words_of(pass.who, options.strategy.processes);
        if (all.readers.find(words) == std::string::npos)
            all.readers += (all.readers.empty() ? "" : ", and ") + words;
    }
    const auto sums =
        measure::gather_columns(control, {records, all.wrong, all.wrong_records}).sum_over_ranks();
    all.elements = sums[0] * static_cast<double>(options.job.values_per_record());
    all.wrong = sums[1];
    all.wrong_records = sums[2];
    const auto times =
        options.write ? record.writes.size() - std::min<std::size_t>(record.writes.size(), options.warmup())
                      : 1;
    all.complete = options.verify && times > 0 &&
                   sums[0] >= static_cast<double>(options.job.files) * static_cast<double>(times);
    for (const auto& text : comm::gather_texts(control, mine))
        if (all.first.empty()) all.first = text;
    return all;
}

void add_verdict(results::Run& run, const StorageOptions& options, const Comparison& all) {
    constexpr const char* kCheck = "every value is as computed";
    run.measurements.push_back(one_column("wrong_elements", "run", "sum", {all.wrong}));
    if (all.wrong_records > 0) {
        fill_verdicts(run,
                      {{kCheck, "failed",
                        fmt::format("{}: {:.0f} elements are wrong in {:.0f} records as they were read back; "
                                    "the first: {}",
                                    options.strategy.name, all.wrong, all.wrong_records, all.first)}});
        return;
    }
    const char* why = !options.read ? "--write-only" : !options.verify ? "--no-verify" : "not all was read";
    fill_verdicts(
        run,
        {{kCheck, all.complete ? "passed" : "not verified",
          all.complete ? fmt::format("{:.0f} elements, bit by bit, {}", all.elements, all.readers) : why}});
    if (!all.complete) run.warnings.push_back(fmt::format("what was written is NOT VERIFIED ({})", why));
}

}  // namespace

void fill_storage_run(results::Run& run, const StorageRecord& record, const StorageOptions& options,
                      int participants, comm::Communicator& control) {
    const auto warmup = std::min(record.writes.size(), static_cast<std::size_t>(options.warmup()));
    const auto how_far =
        fmt::format("after {} of {} repetitions", record.writes.size() - warmup, options.repetitions());
    add_verdict(run, options, compared(record, options, control));
    if (run.valid && record.hit_time_limit) {
        run.exit_code = static_cast<int>(base::ExitCode::time_limit);
        run.warnings.insert(run.warnings.begin(), "the time limit ended the run " + how_far);
    }
    mark_stopped(run, record.stopped_by, how_far + ": the numbers cover what was done");
    add_convergence(run, record.convergence, "repetitions", options.repetitions());
    add_writing(run, record, Gathered(control, participants), warmup);
    add_reading(run, record, Gathered(control, options.ranks));
    run.measurements.push_back(
        by_rank(vocabulary::kPeakMemory, "run",
                measure::gather_columns(control, {static_cast<double>(host::peak_rss_bytes())})));
    add_place(run, options, control);
    add_storage_tables(run, record, options, participants, control);
    add_statistics(run);
}

}  // namespace ranklab::experiments
