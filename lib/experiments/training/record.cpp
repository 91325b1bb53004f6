#include "experiments/training/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/phase.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/measurements.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/shared/target_ci.hpp"
#include "experiments/shared/verdicts.hpp"
#include "host/process.hpp"
#include "measure/samples.hpp"
#include "results/run.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

using measure::StepTimes;

// For sync it is the exposed time: blocking strategies expose all their communication.
std::string_view phase_measurement(base::Phase phase) {
    return vocabulary::part_of(vocabulary::quantity(vocabulary::kStepTime),
                               base::kPhaseNames[static_cast<std::size_t>(phase)])
        .name;
}

// Sums of this rank's counted steps: the whole, and each phase.
StepTimes sums_of(std::span<const StepTimes> counted) {
    StepTimes sums;
    for (const auto& step : counted) {
        sums.step += step.step;
        for (std::size_t phase = 0; phase < base::kPhaseCount; ++phase)
            sums.phases[phase] += step.phases[phase];
    }
    return sums;
}

// Work that a rank does itself, without waiting for others.
double busy_seconds(const StepTimes& sums) {
    double busy = 0;
    for (std::size_t phase = 0; phase < base::kPhaseCount; ++phase)
        if (base::kPhaseNames[phase] != "sync") busy += sums.phases[phase];
    return busy;
}

// The phases of the counted steps with line_profiler's columns: means over ranks, so that the rows
// add up to the step. `own`: this rank's sums.
void add_phase_table(results::Run& run, const std::vector<base::Phase>& phases,
                     const StepTimes& own, std::size_t counted, comm::Communicator& control) {
    std::vector<double> mine(own.phases.begin(), own.phases.end());
    mine.push_back(own.step);
    auto means = measure::sums_of_ranks(control, mine);
    for (double& mean : means) mean /= base::real(control.world_size());
    if (counted == 0) return;
    const auto steps = static_cast<std::int64_t>(counted);
    const double whole = means.back();
    results::Rows table("phases");
    const auto add = [&](std::string_view name, double seconds) {
        table.add({std::string(name), steps, seconds, seconds / static_cast<double>(steps),
                   100 * seconds / whole});
        return seconds;
    };
    double rest = whole;
    for (const base::Phase p : phases) {
        const auto index = base::number_of(p);
        rest -= add(base::kPhaseNames[index], means[index]);
    }
    add("other", rest);
    add("step", whole);
    run.tables.push_back(std::move(table).table());
}

std::vector<double> phase_column(std::span<const StepTimes> steps, base::Phase phase) {
    return column_of(
        steps, [phase](const StepTimes& step) { return step.phases[base::number_of(phase)]; });
}

std::size_t warmup_rows(const TrainingRecord& record) {
    return std::min(static_cast<std::size_t>(record.schedule.warmup), record.steps.size());
}

// Adds the work of the loader's threads during the steps, which data_time_s does not show. A set
// without decoding or augmentation has no such measurement.
void add_reading(const TrainingRecord& record, RankMeasurements& of_ranks) {
    const auto add = [&](const char* name, double StepNotes::*time, bool always) {
        const auto mine = column_of(record.notes, time);
        const double sum = std::accumulate(mine.begin(), mine.end(), 0.0);
        if (always || of_ranks.largest({sum}).front() > 0)
            of_ranks.add(name, "step", mine, warmup_rows(record));
    };
    add("loader_read_time_s", &StepNotes::read_s, true);
    add("loader_decode_time_s", &StepNotes::decode_s, false);
    add("loader_augment_time_s", &StepNotes::augment_s, false);
}

// Medians over the counted steps.
StepMedians medians_of(const results::Run& run, std::span<const StepTimes> counted,
                       comm::Communicator& control) {
    std::vector<double> mine;
    for (std::size_t phase = 0; phase < base::kPhaseCount; ++phase)
        mine.push_back(
            stats::quantile(phase_column(counted, static_cast<base::Phase>(phase)), 0.5));
    return {measure::gather_columns(control, mine), run.median(vocabulary::kStepTime)};
}

void add_throughput(results::Run& run, const TrainingRecord& record) {
    const auto costs = run.find(vocabulary::kStepTime)->largest_of_rows();
    const auto counts = column_of(record.notes, &StepNotes::true_count);
    run.measurements.push_back(rate(vocabulary::kThroughput, "step",
                                    std::span(counts).subspan(warmup_rows(record)), costs));
}

void add_step_measurements(results::Run& run, const TrainingRecord& record, const std::string& host,
                           comm::Communicator& control, RankMeasurements& of_ranks) {
    const std::size_t warmup = warmup_rows(record);
    const auto counted = std::span(record.steps).subspan(warmup);
    of_ranks.add(vocabulary::kStepTime, "step", column_of(record.steps, &StepTimes::step), warmup);
    for (const base::Phase phase : record.phases)
        of_ranks.add(phase_measurement(phase), "step", phase_column(record.steps, phase), warmup);
    add_reading(record, of_ranks);
    const StepTimes own = sums_of(counted);
    add_phase_table(run, record.phases, own, counted.size(), control);
    if (run.valid && !counted.empty()) add_throughput(run, record);
    of_ranks.add_imbalance(busy_seconds(own));
    if (run.valid && !record.reductions.steps().empty())
        add_communication(run, record.reductions, record.probe, record.facts,
                          medians_of(run, counted, control), host, control);
}

// Sums over ranks by the global batch: the mean over its samples.
std::vector<double> global_losses(const TrainingRecord& record, comm::Communicator& control) {
    auto losses =
        measure::ordered_sums_of_ranks(control, column_of(record.notes, &StepNotes::loss_sum));
    for (std::size_t i = 0; i < losses.size(); ++i) losses[i] /= record.notes[i].global_count;
    return losses;
}

void add_losses(results::Run& run, const TrainingRecord& record, comm::Communicator& control) {
    const std::size_t warmup = warmup_rows(record);
    run.measurements.push_back(
        one_column(vocabulary::kLoss, "step", "mean", global_losses(record, control), warmup));
    run.measurements.push_back(one_column(vocabulary::kLearningRate, "step", "none",
                                          column_of(record.notes, &StepNotes::rate), warmup));
    std::vector<double> validation_loss;
    std::vector<double> accuracy;
    for (const auto& epoch : record.epochs) {
        if (!epoch.evaluated) continue;
        validation_loss.push_back(epoch.validation_loss);
        if (!std::isnan(epoch.validation_accuracy)) accuracy.push_back(epoch.validation_accuracy);
    }
    run.measurements.push_back(
        one_column(vocabulary::kTestLoss, "epoch", "mean", std::move(validation_loss)));
    run.measurements.push_back(
        one_column(vocabulary::kAccuracy, "epoch", "sum/sum", std::move(accuracy)));
}

double rate_of(const EpochRow& row, double time_s, bool valid) {
    return valid && time_s > 0 ? static_cast<double>(row.samples) / time_s : stats::kNone;
}

void add_epochs(results::Run& run, const TrainingRecord& record, comm::Communicator& control,
                RankMeasurements& of_ranks) {
    const auto mine = column_of(record.epochs, &EpochRow::time_s);
    of_ranks.add(vocabulary::kEpochTime, "epoch", mine);
    const auto sums =
        measure::ordered_sums_of_ranks(control, column_of(record.epochs, &EpochRow::loss_sum));
    const auto evaluations =
        of_ranks.largest(column_of(record.epochs, &EpochRow::validation_time_s));
    const auto longest = of_ranks.largest(mine);
    results::Rows table("epochs");
    for (const auto& row : record.epochs) {
        const auto i = table.size();
        table.add({row.epoch, row.steps, record.schedule.steps_per_epoch, row.samples, longest[i],
                   rate_of(row, longest[i], run.valid), row.lr,
                   record.computes ? sums[i] / row.global_count : stats::kNone,
                   row.evaluated ? row.validation_loss : stats::kNone,
                   row.evaluated ? row.validation_accuracy : stats::kNone,
                   row.evaluated ? evaluations[i] : stats::kNone});
        if (row.steps < record.schedule.steps_per_epoch) {
            const bool untrained = row.evaluated && record.schedule.first + row.steps <
                                                        record.schedule.steps_per_epoch;
            run.warnings.push_back(fmt::format(
                "epoch {}: {} of {} steps ran; ignore epoch time{}", row.epoch, row.steps,
                record.schedule.steps_per_epoch, untrained ? " and accuracy" : ""));
        }
    }
    run.tables.push_back(std::move(table).table());
}

}  // namespace

std::string how_far(const TrainingRecord& record) {
    if (!record.end.missing.empty())
        return fmt::format("after all {} steps, before {}",
                           record.schedule.first + static_cast<std::int64_t>(record.steps.size()),
                           record.end.missing);
    const auto made = record.schedule.first + static_cast<std::int64_t>(record.steps.size());
    const auto least = record.schedule.warmup + record.least_steps;
    if (record.convergence.wanted() && made >= least)
        return fmt::format("after {} steps, of which --target-ci wanted {} at least", made, least);
    return fmt::format("after {} of {} steps", made,
                       record.convergence.wanted() ? least : record.schedule.total);
}

void fill_run(results::Run& run, const TrainingRecord& record,
              const std::vector<CheckResult>& verdicts, const std::string& host,
              comm::Communicator& control) {
    RankMeasurements of_ranks(run, control);
    fill_verdicts(run, verdicts);
    if (run.valid && record.end.at_time_limit) {
        run.exit_code = static_cast<int>(base::ExitCode::time_limit);
        run.warnings.insert(run.warnings.begin(),
                            "the time limit ended the run " + how_far(record));
    }
    add_convergence(run, record.convergence, "steps", record.least_steps);
    add_step_measurements(run, record, host, control, of_ranks);
    add_lines(run, record.lines, record.phases, record.steps, control);
    add_epochs(run, record, control, of_ranks);
    if (record.computes) add_losses(run, record, control);
    if (!record.checkpoint_times.empty())
        of_ranks.add("checkpoint_time_s", "checkpoint", record.checkpoint_times);
    if (record.steps.size() > 0 && !std::isnan(record.time_to_first_step_s))
        of_ranks.add_of_run("time_to_first_step_s", record.time_to_first_step_s);
    of_ranks.add_of_run(vocabulary::kPeakMemory, static_cast<double>(host::peak_rss_bytes()));
    if (!std::isnan(record.peak_gpu_bytes))
        of_ranks.add_of_run(vocabulary::kPeakGpuMemory, record.peak_gpu_bytes);
    of_ranks.add_of_run(vocabulary::kThreadCount, host::thread_count());
    of_ranks.finish();
    add_statistics(run);
    mark_stopped(run, record.end.signal,
                 fmt::format("{}: the numbers cover what was done{}", how_far(record),
                             record.end.has_checkpoint && record.end.missing.empty()
                                 ? ", and --resume goes on from there"
                                 : ""));
}

}  // namespace ranklab::experiments
