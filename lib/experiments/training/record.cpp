#include "experiments/training/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/cast.hpp"
#include "base/error.hpp"
#include "base/phase.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/rank_keeper.hpp"
#include "experiments/shared/series_measurements.hpp"
#include "experiments/shared/statistics_table.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/shared/target_ci.hpp"
#include "host/process.hpp"
#include "measure/gather.hpp"
#include "measure/series.hpp"
#include "results/rows.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

using measure::RankSeries;
using results::Measurement;

// Of sync it is what is exposed: blocking strategies expose all their communication.
std::string_view phase_measurement(base::Phase phase) {
    return vocabulary::part_of(vocabulary::quantity(vocabulary::kStepTime),
                               base::kPhaseNames[static_cast<std::size_t>(phase)])
        .name;
}

// Work that a rank does itself, without waiting for others.
double imbalance(const std::vector<double>& own, std::size_t rows, comm::Communicator& control) {
    double busy = 0;
    for (std::size_t phase = 0; phase < base::kPhaseCount; ++phase)
        if (base::kPhaseNames[phase] != "sync" && rows > 0) busy += own[1 + phase] / base::real(rows);
    return stats::load_imbalance(measure::gather_columns(control, {busy}).values);
}

// What line_profiler shows of a script, of the phases of the counted steps: means over ranks, so that the
// rows add up to the step. `own`: this rank's sums.
void add_phase_table(results::Run& run, const TrainingRecord& record, const std::vector<double>& own,
                     std::size_t warmup, comm::Communicator& control) {
    const auto sums = measure::sums_of_ranks(control, own);
    const auto total = [&](std::size_t column) { return sums[column] / base::real(control.world_size()); };
    const auto steps = static_cast<std::int64_t>(record.steps.rows() - warmup);
    const double whole = total(0);
    if (steps == 0) return;
    results::Rows table("phases");
    const auto add = [&](std::string_view name, double seconds) {
        table.add(
            {std::string(name), steps, seconds, seconds / static_cast<double>(steps), 100 * seconds / whole});
        return seconds;
    };
    double rest = whole;
    for (const base::Phase p : record.phases) {
        const auto index = static_cast<std::size_t>(p);
        rest -= add(base::kPhaseNames[index], total(1 + index));
    }
    add("other", rest);
    add("step", whole);
    run.tables.push_back(std::move(table).table());
}

// The loader's threads work beside the steps: what data_time_s does not show. A set that has nothing to
// decode or to augment has no measurement of it.
void add_reading(results::Run& run, const TrainingRecord& record, std::size_t warmup, RankKeeper& keeper) {
    static_assert(kReadTime == 0 && kDecodeTime == 1 && kAugmentTime == 2);
    const auto mine = measure::columns_of(record.notes, kReadTime, 3);
    const auto all = keeper.series(*mine.spool());
    const auto longest = keeper.largest(measure::own_sums(*mine.spool(), 0));
    const auto add = [&](const char* name, Note note) {
        if (note != kReadTime && !(longest[note] > 0)) return;
        run.measurements.push_back(keeper.by_rank(name, "step", all[note], *mine.spool(), note, warmup));
    };
    add("loader_read_time_s", kReadTime);
    add("loader_decode_time_s", kDecodeTime);
    add("loader_augment_time_s", kAugmentTime);
}

// Each replica's own time, in each step.
void add_replica_times(results::Run& run, const TrainingRecord& record, std::size_t warmup) {
    if (record.replicas == 0 || record.steps.rows() == 0) return;
    const auto add = [&](const char* name, std::size_t first) {
        const auto times = measure::columns_of(record.notes, first, record.replicas);
        run.measurements.push_back(by_rank(name, "step", times, warmup));
    };
    add("replica_forward_time_s", kNotes);
    add("replica_backward_time_s", kNotes + record.replicas);
}

std::size_t warmup_rows(const TrainingRecord& record) {
    return std::min(static_cast<std::size_t>(record.schedule.warmup), record.steps.rows());
}

// Of as many counted steps as may be held, spread evenly over the run.
StepMedians medians_of(const TrainingRecord& record, const RankSeries& steps, std::size_t warmup,
                       comm::Communicator& control) {
    const auto median = [&](const RankSeries& one) {
        return stats::quantile(one.spread(warmup, measure::kMostHeldValues).values, 0.5);
    };
    std::vector<double> mine;
    for (std::size_t phase = 0; phase < base::kPhaseCount; ++phase)
        mine.push_back(median(measure::columns_of(record.steps, 1 + phase, 1)));
    return {measure::gather_columns(control, mine), median(max_over_ranks(steps))};
}

void add_step_measurements(results::Run& run, const TrainingRecord& record, const std::string& host,
                           comm::Communicator& control, RankKeeper& keeper) {
    const auto steps = keeper.series(record.steps);
    const std::size_t warmup = warmup_rows(record);
    const auto add = [&](std::string_view name, std::size_t column) {
        run.measurements.push_back(keeper.by_rank(name, "step", steps[column], record.steps, column, warmup));
    };
    add(vocabulary::kStepTime, 0);
    for (const base::Phase phase : record.phases)
        add(phase_measurement(phase), 1 + static_cast<std::size_t>(phase));
    add_reading(run, record, warmup, keeper);
    const auto own = measure::own_sums(record.steps, warmup);
    add_phase_table(run, record, own, warmup, control);
    add_replica_times(run, record, warmup);
    if (run.valid && warmup < record.steps.rows()) {
        const auto counts = measure::columns_of(record.notes, kTrueCount, 1);
        run.measurements.push_back(rate(vocabulary::kThroughput, "step", counts, steps.front(), warmup));
    }
    run.measurements.push_back(one_column(vocabulary::kLoadImbalance, "run", "max/mean-1",
                                          {imbalance(own, record.steps.rows() - warmup, control)}));
    if (run.valid && !record.reductions.steps().empty())
        add_communication(run, record.reductions, record.probe, record.facts,
                          medians_of(record, steps.front(), warmup, control), host, control);
}

// Sums over ranks by the global batch: the mean over its samples.
RankSeries global_losses(const TrainingRecord& record, const RankSeries& sums) {
    if (!sums.here()) return {1, sums.rows(), nullptr};
    const auto counts = measure::columns_of(record.notes, kGlobalCount, 1);
    measure::SeriesMaker losses;
    sums.visit(0, [&](std::span<const double> piece, std::size_t row) {
        const auto divisors = counts.head(row, piece.size()).values;
        for (std::size_t i = 0; i < divisors.size(); ++i) losses.push(piece[i] / divisors[i]);
    });
    return losses.series();
}

void add_losses(results::Run& run, const TrainingRecord& record, comm::Communicator& control) {
    const auto add = [&](std::string_view name, const char* reduction, const RankSeries& all) {
        run.measurements.push_back(one_column(name, "step", reduction, all, warmup_rows(record)));
    };
    const auto sums = measure::gather_sums(control, record.notes, kLossSum);
    add(vocabulary::kLoss, "mean", global_losses(record, sums));
    const auto rates = measure::columns_of(record.notes, kRate, 1);
    add(vocabulary::kLearningRate, "none", sums.here() ? rates : RankSeries(1, rates.rows(), nullptr));
    std::vector<double> validation_loss;
    std::vector<double> accuracy;
    for (const auto& epoch : record.epochs) {
        if (!epoch.evaluated) continue;
        validation_loss.push_back(epoch.validation_loss);
        if (!std::isnan(epoch.validation_accuracy)) accuracy.push_back(epoch.validation_accuracy);
    }
    run.measurements.push_back(
        one_column(vocabulary::kTestLoss, "epoch", "mean", std::move(validation_loss)));
    run.measurements.push_back(one_column(vocabulary::kAccuracy, "epoch", "sum/sum", std::move(accuracy)));
}

double rate_of(const EpochRow& row, double time_s, bool valid) {
    return valid && time_s > 0 ? static_cast<double>(row.samples) / time_s : stats::kNone;
}

void add_epochs(results::Run& run, const TrainingRecord& record, comm::Communicator& control,
                RankKeeper& keeper) {
    std::vector<double> mine, my_evaluations;
    measure::Spool my_sums(1);
    for (const auto& epoch : record.epochs) {
        mine.push_back(epoch.time_s);
        my_sums.push({&epoch.loss_sum, 1});
        my_evaluations.push_back(epoch.validation_time_s);
    }
    const auto sums = measure::gather_sums(control, my_sums, 0).head(0, record.epochs.size()).values;
    run.measurements.push_back(keeper.by_rank(vocabulary::kEpochTime, "epoch", mine));

    const auto evaluations = keeper.largest(my_evaluations);
    const auto longest = keeper.largest(mine);
    results::Rows table("epochs");
    for (const auto& row : record.epochs) {
        const auto i = table.size();
        table.add({row.epoch, row.steps, record.schedule.steps_per_epoch, row.samples, longest[i],
                   rate_of(row, longest[i], run.valid), row.lr,
                   record.computes && i < sums.size() ? sums[i] / row.global_count : stats::kNone,
                   row.evaluated ? row.validation_loss : stats::kNone,
                   row.evaluated ? row.validation_accuracy : stats::kNone,
                   row.evaluated ? evaluations[i] : stats::kNone});
        if (row.steps < record.schedule.steps_per_epoch) {
            const bool untrained =
                row.evaluated && record.schedule.first + row.steps < record.schedule.steps_per_epoch;
            run.warnings.push_back(fmt::format(
                "epoch {} is a subset: {} of {} steps, so epoch_time_s covers that part alone{}", row.epoch,
                row.steps, record.schedule.steps_per_epoch,
                untrained ? ", and the accuracy and loss of a model so little trained are no result" : ""));
        }
    }
    run.tables.push_back(std::move(table).table());
}

// Where the kernel did not let the mark begin anew, a peak no higher than the trial's may be the trial's.
void add_peak_memory(results::Run& run, const TrialMemory& trial, comm::Communicator& control,
                     RankKeeper& keeper) {
    const std::int64_t peak = std::max(trial.before, host::peak_rss_bytes());
    run.measurements.push_back(keeper.of_run(vocabulary::kPeakMemory, static_cast<double>(peak)));
    std::int64_t hidden = peak <= trial.with ? 1 : 0;
    control.allreduce(comm::view(std::span(&hidden, 1)), comm::ReduceOp::max);
    if (hidden != 0)
        run.warnings.push_back(fmt::format(
            "{} is that of the trial of both memory formats, which this kernel does not forget; name a "
            "format to measure the training's own",
            vocabulary::kPeakMemory));
}

// One rank's speaks for all: the same mends them.
void add_trouble(results::Run& run, const TrainingRecord& record, comm::Communicator& control) {
    auto all = comm::gather_texts(control, record.steps.trouble() + record.notes.trouble());
    std::erase(all, "");
    if (all.empty()) return;
    run.warnings.push_back(
        all.size() == 1 ? all.front() : fmt::format("{} (so on {} more ranks)", all.front(), all.size() - 1));
}

}  // namespace

std::string how_far(const TrainingRecord& record) {
    if (!record.end.missing.empty())
        return fmt::format("after all {} steps, before {}",
                           record.schedule.first + static_cast<std::int64_t>(record.steps.rows()),
                           record.end.missing);
    const auto made = record.schedule.first + static_cast<std::int64_t>(record.steps.rows());
    const auto least = record.schedule.warmup + record.least_steps;
    if (record.convergence.wanted() && made >= least)
        return fmt::format("after {} steps, of which --target-ci wanted {} at least", made, least);
    return fmt::format("after {} of {} steps", made,
                       record.convergence.wanted() ? least : record.schedule.total);
}

void fill_run(results::Run& run, const TrainingRecord& record, const std::vector<Verdict>& verdicts,
              const std::string& host, comm::Communicator& control, results::KeptSamples kept) {
    RankKeeper keeper(control, kept);
    fill_verdicts(run, verdicts);
    if (run.valid && record.end.at_time_limit) {
        run.exit_code = static_cast<int>(base::ExitCode::time_limit);
        run.warnings.insert(run.warnings.begin(), "the time limit ended the run " + how_far(record));
    }
    add_convergence(run, record.convergence, "steps", record.least_steps);
    add_step_measurements(run, record, host, control, keeper);
    add_epochs(run, record, control, keeper);
    if (record.computes) add_losses(run, record, control);
    if (!record.checkpoint_times.empty())
        run.measurements.push_back(
            keeper.by_rank("checkpoint_time_s", "checkpoint", record.checkpoint_times));
    if (record.steps.rows() > 0 && !std::isnan(record.time_to_first_step_s))
        run.measurements.push_back(keeper.of_run("time_to_first_step_s", record.time_to_first_step_s));
    add_peak_memory(run, record.trial, control, keeper);
    if (!std::isnan(record.peak_gpu_bytes))
        run.measurements.push_back(keeper.of_run(vocabulary::kPeakGpuMemory, record.peak_gpu_bytes));
    add_trouble(run, record, control);
    run.measurements.push_back(keeper.of_run(vocabulary::kThreadCount, host::thread_count()));
    add_statistics(run);
    keeper.finish(run);
    mark_stopped(run, record.end.signal,
                 fmt::format("{}: the numbers cover what was done{}", how_far(record),
                             record.end.has_checkpoint && record.end.missing.empty()
                                 ? ", and --resume goes on from there"
                                 : ""));
}

}  // namespace ranklab::experiments
