#include "experiments/training_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/phase.hpp"
#include "experiments/measurements.hpp"
#include "monitor/process.hpp"

namespace ranklab::experiments {
namespace {

using measure::RankSamples;
using results::Kind;
using results::Measurement;

// One value per rank of the whole run.
Measurement per_rank(const std::string& name, const std::string& unit, Kind kind, comm::Communicator& control,
                     double mine) {
    return by_rank(name, unit, kind, "run", measure::gather_columns(control, {mine}));
}

std::string phase_measurement(base::Phase phase) {
    const auto name = base::kPhaseNames[static_cast<std::size_t>(phase)];
    // Blocking strategies expose all their communication.
    return name == "sync" ? std::string("sync_exposed_time_s") : fmt::format("{}_time_s", name);
}

// Work that a rank does itself, without waiting for others.
double imbalance(const measure::GatheredSteps& gathered, std::size_t warmup) {
    std::vector<double> busy(gathered.step.ranks, 0.0);
    for (std::size_t phase = 0; phase < base::kPhaseCount; ++phase) {
        if (base::kPhaseNames[phase] == "sync") continue;
        const auto& samples = gathered.phases[phase];
        const auto means = samples.rows_from(warmup, samples.rows()).mean_over_rows();
        for (std::size_t rank = 0; rank < busy.size(); ++rank) busy[rank] += means[rank];
    }
    return stats::load_imbalance(busy);
}

// What line_profiler shows of a script, of the phases of the counted steps: means over ranks, so that the
// rows add up to the step.
void add_phase_table(results::Run& run, const TrainingRecord& record, const measure::GatheredSteps& counted) {
    const auto total = [](const RankSamples& samples) {
        double sum = 0;
        for (const double value : samples.values) sum += value;
        return samples.ranks == 0 ? 0.0 : sum / static_cast<double>(samples.ranks);
    };
    const auto steps = static_cast<std::int64_t>(counted.step.rows());
    const double whole = total(counted.step);
    std::vector<std::string> phase;
    std::vector<std::int64_t> hits;
    std::vector<double> time, per_hit, percent;
    const auto add = [&](std::string name, double seconds) {
        phase.push_back(std::move(name));
        hits.push_back(steps);
        time.push_back(seconds);
        per_hit.push_back(seconds / static_cast<double>(steps));
        percent.push_back(100 * seconds / whole);
    };
    if (steps == 0) return;
    double rest = whole;
    for (const base::Phase p : record.phases) {
        const auto index = static_cast<std::size_t>(p);
        add(std::string(base::kPhaseNames[index]), total(counted.phases[index]));
        rest -= time.back();
    }
    add("other", rest);
    add("step", whole);
    run.tables.push_back(
        {"phases",
         {{"phase", phase}, {"hits", hits}, {"time_s", time}, {"per_hit_s", per_hit}, {"percent", percent}}});
}

// The loader's threads work beside the steps: what data_time_s does not show.
void add_reading(results::Run& run, const TrainingRecord& record, std::size_t warmup,
                 comm::Communicator& control) {
    const auto add = [&](const char* name, double data::ReadTimes::*time) {
        std::vector<double> mine;
        for (const auto& step : record.reading) mine.push_back(step.*time);
        run.measurements.push_back(
            by_rank(name, "s", Kind::cost, "step", measure::gather_columns(control, mine), warmup));
    };
    add("loader_read_time_s", &data::ReadTimes::read);
    add("loader_decode_time_s", &data::ReadTimes::decode);
    add("loader_augment_time_s", &data::ReadTimes::augment);
}

measure::GatheredSteps counted_of(const measure::GatheredSteps& all, std::size_t warmup) {
    measure::GatheredSteps counted{all.step.rows_from(warmup, all.step.rows()), {}};
    for (const auto& phase : all.phases) counted.phases.push_back(phase.rows_from(warmup, phase.rows()));
    return counted;
}

void add_step_measurements(results::Run& run, const TrainingRecord& record, const std::string& host,
                           comm::Communicator& control) {
    const auto gathered = measure::gather_steps(control, record.steps);
    const auto warmup = std::min(static_cast<std::size_t>(record.schedule.warmup), record.steps.size());
    run.measurements.push_back(by_rank("step_time_s", "s", Kind::cost, "step", gathered.step, warmup));
    for (const base::Phase phase : record.phases) {
        run.measurements.push_back(by_rank(phase_measurement(phase), "s", Kind::cost, "step",
                                           gathered.phases[static_cast<std::size_t>(phase)], warmup));
    }
    add_reading(run, record, warmup, control);
    add_phase_table(run, record, counted_of(gathered, warmup));
    if (record.replica_forward.rows() > 0) {
        run.measurements.push_back(
            by_rank("replica_forward_time_s", "s", Kind::cost, "step", record.replica_forward, warmup));
        run.measurements.push_back(
            by_rank("replica_backward_time_s", "s", Kind::cost, "step", record.replica_backward, warmup));
    }
    if (run.valid && warmup < record.steps.size()) {
        const auto costs = gathered.step.rows_from(warmup, gathered.step.rows()).max_over_ranks();
        const std::vector<double> counts(record.true_counts.begin() + static_cast<std::ptrdiff_t>(warmup),
                                         record.true_counts.end());
        run.measurements.push_back(rate("throughput_samples_per_s", "samples/s", "step", counts, costs));
    }
    run.measurements.push_back(
        one_column("load_imbalance", "1", Kind::ratio, "run", "max/mean-1", {imbalance(gathered, warmup)}));
    if (run.valid && !record.reductions.empty())
        add_communication(run, record.reductions, record.probe, record.facts, counted_of(gathered, warmup),
                          host, control);
}

std::vector<double> global_losses(const TrainingRecord& record, comm::Communicator& control) {
    std::vector<double> losses = measure::gather_columns(control, record.loss_sums).sum_over_ranks();
    for (std::size_t i = 0; i < losses.size(); ++i) losses[i] /= static_cast<double>(record.global_counts[i]);
    return losses;
}

// The counted rows of what is one number a step, with the warm-up's beside them.
Measurement by_step(const std::string& name, const std::string& reduction, const TrainingRecord& record,
                    const std::vector<double>& all) {
    const auto warmup = std::min(static_cast<std::size_t>(record.schedule.warmup), all.size());
    const auto counted = all.begin() + static_cast<std::ptrdiff_t>(warmup);
    auto m = one_column(name, "1", Kind::ratio, "step", reduction, std::vector<double>(counted, all.end()));
    m.warmup.assign(all.begin(), counted);
    return m;
}

void add_losses(results::Run& run, const TrainingRecord& record, const std::vector<double>& losses) {
    run.measurements.push_back(by_step("train_loss", "mean", record, losses));
    run.measurements.push_back(by_step("learning_rate", "none", record, record.learning_rates));
    std::vector<double> validation_loss;
    std::vector<double> accuracy;
    for (const auto& epoch : record.epochs) {
        if (!epoch.evaluated) continue;
        validation_loss.push_back(epoch.validation_loss);
        if (!std::isnan(epoch.validation_accuracy)) accuracy.push_back(epoch.validation_accuracy);
    }
    run.measurements.push_back(
        one_column("validation_loss", "1", Kind::ratio, "epoch", "mean", std::move(validation_loss)));
    run.measurements.push_back(
        one_column("validation_accuracy", "1", Kind::ratio, "epoch", "sum/sum", std::move(accuracy)));
}

void add_epochs(results::Run& run, const TrainingRecord& record, const std::vector<double>& losses,
                comm::Communicator& control) {
    std::vector<double> mine;
    for (const auto& epoch : record.epochs) mine.push_back(epoch.time_s);
    const RankSamples times = measure::gather_columns(control, mine);
    run.measurements.push_back(by_rank("epoch_time_s", "s", Kind::cost, "epoch", times));

    std::vector<std::int64_t> epoch, steps, of, samples;
    std::vector<double> lr, loss, validation_loss, accuracy;
    std::size_t first = 0;
    for (const auto& row : record.epochs) {
        epoch.push_back(row.epoch);
        steps.push_back(row.steps);
        of.push_back(record.schedule.steps_per_epoch);
        samples.push_back(row.samples);
        lr.push_back(row.lr);
        double sum = 0;
        double count = 0;
        for (std::size_t i = first; i < first + static_cast<std::size_t>(row.steps); ++i) {
            sum += losses[i] * static_cast<double>(record.global_counts[i]);
            count += static_cast<double>(record.global_counts[i]);
        }
        first += static_cast<std::size_t>(row.steps);
        loss.push_back(record.computes ? sum / count : stats::kNone);
        validation_loss.push_back(row.evaluated ? row.validation_loss : stats::kNone);
        accuracy.push_back(row.evaluated ? row.validation_accuracy : stats::kNone);
        if (row.steps < record.schedule.steps_per_epoch) {
            run.warnings.push_back(
                fmt::format("epoch {} is a subset: {} of {} steps, so epoch_time_s is of that part",
                            row.epoch, row.steps, record.schedule.steps_per_epoch));
        }
    }
    run.tables.push_back({"epochs",
                          {{"epoch", epoch},
                           {"steps", steps},
                           {"steps_per_epoch", of},
                           {"samples", samples},
                           {"time_s", times.max_over_ranks()},
                           {"lr", lr},
                           {"train_loss", loss},
                           {"validation_loss", validation_loss},
                           {"validation_accuracy", accuracy}}});
}

}  // namespace

void fill_run(results::Run& run, const TrainingRecord& record, const std::vector<Verdict>& verdicts,
              const std::string& host, comm::Communicator& control) {
    fill_verdicts(run, verdicts);
    if (run.valid && record.hit_time_limit) {
        run.exit_code = static_cast<int>(base::ExitCode::time_limit);
        run.warnings.insert(
            run.warnings.begin(),
            fmt::format("the time limit ended the run after {} of {} steps",
                        record.schedule.first + static_cast<std::int64_t>(record.steps.size()),
                        record.schedule.total));
    }
    const auto losses = global_losses(record, control);
    add_step_measurements(run, record, host, control);
    add_epochs(run, record, losses, control);
    if (record.computes) add_losses(run, record, losses);
    if (!record.checkpoint_times.empty())
        run.measurements.push_back(by_rank("checkpoint_time_s", "s", Kind::cost, "checkpoint",
                                           measure::gather_columns(control, record.checkpoint_times)));
    if (!record.steps.empty())
        run.measurements.push_back(
            per_rank("time_to_first_step_s", "s", Kind::cost, control, record.time_to_first_step_s));
    run.measurements.push_back(
        per_rank("peak_rss_bytes", "B", Kind::cost, control, static_cast<double>(monitor::peak_rss_bytes())));
    run.measurements.push_back(per_rank("threads", "1", Kind::count, control, monitor::thread_count()));
}

}  // namespace ranklab::experiments
