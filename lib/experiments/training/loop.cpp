#include "experiments/training/loop.hpp"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/clock.hpp"
#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/measurements.hpp"
#include "train/torch_cuda.hpp"

namespace ranklab::experiments {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// Steps for which memory is reserved: of longer runs it grows, between two steps.
constexpr std::int64_t kMostReserved = 1 << 20;

}  // namespace

TrainingLoop::TrainingLoop(const TrainingSetup& setup, nn::Model& model,
                           const data::Sampler& sampler)
    : setup_(setup),
      model_(model),
      steps_(setup, model, sampler),
      rates_(setup.options.rate),
      updates_(setup.schedule.first),
      stop_(setup.control),
      equality_(model, setup.control),
      first_bad_step_(kNever) {
    record_.schedule = setup.schedule;
    record_.phases = steps_.phases();
    record_.convergence = setup.options.convergence;
    record_.least_steps = setup.options.settings.steps.value_or(0);
    record_.computes = setup.options.input.kind != Input::io_only;
    record_.lines.wanted = setup.options.profiles("lines");
    record_.lines.on_device = !setup.device.is_cpu();
}

bool TrainingLoop::begin() {
    setup_.progress.activity("broadcasting the parameters");
    train::agree_on_parameters(train::trained_parameters(model_), setup_.control);
    train::broadcast_parameters(model_, setup_.control);
    restore();
    equality_.compare("at the start", Compared::parameters_and_buffers);
    stop_if_asked(setup_.control, "before the first step; nothing was measured");
    model_.train();
    if (setup_.options.input.kind == Input::io_only) {
        gate_ = {"gradients summed correctly", "not verified", "--input io-only computes nothing"};
        return equality_.holds();
    }
    setup_.progress.activity("checking the first gradient");
    gate_ = steps_.check_first_gradient(setup_.schedule.epoch_of(setup_.schedule.first));
    return gate_.result != "failed" && equality_.holds();
}

void TrainingLoop::ablate() {
    if (!begin()) return;
    trials_ = make_trials(steps_,
                          {.steps = setup_.options.settings.steps.value_or(0),
                           .trials = setup_.options.settings.repetitions.value_or(0),
                           .seed = setup_.options.seed()},
                          setup_.control, setup_.progress, stop_);
    record_.end.signal = stop_.signal();
    if (steps_.keeps_ranks_equal()) equality_.compare("at the end");
}

void TrainingLoop::run() {
    if (!begin()) return;
    steps_.plan(setup_.schedule.first, setup_.schedule.total);
    const auto planned = static_cast<std::size_t>(
        std::min(setup_.schedule.total - setup_.schedule.first, kMostReserved));
    steps_.recorder().reserve(planned);
    record_.notes.reserve(planned);
    train::restart_peak_gpu_bytes(steps_.gpus());
    setup_.control.barrier();
    if (setup_.start_up != nullptr) setup_.start_up->done("checks before the first step");
    start_ = measure::Clock::now();
    for (std::int64_t step = setup_.schedule.first; step < setup_.schedule.total; ++step) {
        setup_.progress.activity("training");
        if (step == setup_.schedule.first + setup_.schedule.warmup) note_counting_begins();
        do_step(step);
        const bool last = !check_between_steps(step);
        // Before the evaluation, which takes long.
        if (last || checkpoint_due(step) || evaluation_due(step, last)) save_checkpoint(step);
        if (setup_.schedule.ends_epoch(step)) ++record_.lines.epochs;
        if (last || setup_.schedule.ends_epoch(step)) finish_epoch(step, last);
        if (last || stop_signal() != 0 || record_.end.at_time_limit || enough_) break;
    }
    setup_.counting.ends();
    if (setup_.trace != nullptr) setup_.trace->close();
    if (steps_.keeps_ranks_equal()) equality_.compare("at the end");
    record_.steps = steps_.recorder().take();
    if (const auto* profile = steps_.layers(); profile != nullptr)
        layers_ = {profile->layers(), profile->batches()};
    record_.lines.batches = steps_.batches();
    record_.lines.host = steps_.recorder().host_seconds();
    const auto gpus = steps_.gpus();
    if (!gpus.empty()) record_.peak_gpu_bytes = static_cast<double>(train::peak_gpu_bytes(gpus));
}

// A look at the machine takes a rank its time, for which the others must not wait within a step.
void TrainingLoop::note_counting_begins() {
    if (steps_.layers() != nullptr) steps_.layers()->restart();
    setup_.counting.begins();
    setup_.control.barrier();
}

void TrainingLoop::restore() {
    if (setup_.checkpoints == nullptr) return;
    for (std::size_t r = 1; steps_.replicas() != nullptr && r < steps_.replicas()->count(); ++r) {
        setup_.checkpoints->keep(generator_state(fmt::format("replica_{}_generator", r),
                                                 steps_.replicas()->generator(r)));
    }
    if (auto* const scaler = steps_.scaler(); scaler != nullptr) {
        setup_.checkpoints->keep({"grad_scaler", [scaler] { return scaler->save(); },
                                  [scaler](const std::string& state) { scaler->load(state); }});
    }
    if (!setup_.device.is_cpu()) {
        setup_.checkpoints->keep(generator_state(
            "torch_gpu_generator", at::globalContext().defaultGenerator(setup_.device)));
    }
    setup_.checkpoints->restore(model_, steps_.optimizer());
    if (steps_.scaler() != nullptr) updates_ -= steps_.scaler()->skipped();
}

void TrainingLoop::probe_overlap() {
    if (*setup_.options.settings.overlap_steps == 0 || record_.end.at_time_limit ||
        stop_signal() != 0)
        return;
    const auto checked = verdicts();
    if (std::any_of(checked.begin(), checked.end(),
                    [](const auto& v) { return v.result == "failed"; }))
        return;
    setup_.progress.activity("steps with and without communication, for the overlap");
    record_.probe = experiments::probe_overlap(steps_, setup_.control,
                                               *setup_.options.settings.overlap_steps, stop_);
    if (stop_.signal() == 0) return;
    record_.end.signal = stop_.signal();
    record_.end.missing = "the overlap was measured";
}

void TrainingLoop::do_step(std::int64_t step) {
    const std::int64_t in_epoch = step % setup_.schedule.steps_per_epoch;
    learning_rate_ = rates_.rate(updates_, setup_.schedule.epoch_of(step));
    steps_.optimizer().set_lr(learning_rate_);
    if (in_epoch == 0 || step == setup_.schedule.first)
        epoch_ = {.epoch = setup_.schedule.epoch_of(step) + 1, .lr = learning_rate_};
    if (setup_.trace != nullptr) setup_.trace->before(step);
    const auto counts = [&] {
        const base::Annotation mark("step");
        return steps_.make(step);
    }();
    if (setup_.trace != nullptr) setup_.trace->after(step);
    if (counts.updated) ++updates_;

    if (step == setup_.schedule.first && setup_.start_up != nullptr) {
        setup_.start_up->finish("the first step");
        record_.time_to_first_step_s = setup_.start_up->seconds();
    }
    if (!std::isfinite(counts.loss_sum)) first_bad_step_ = std::min(first_bad_step_, step);
    note_step(counts);
    if (setup_.schedule.counts(step) && record_.computes) note_reductions();
    if (setup_.options.settings.check_parameters == "step" && steps_.keeps_ranks_equal())
        equality_.compare(fmt::format("after step {}", step + 1));
    {
        const auto hit = record_.lines.progress.hit();
        report_progress(step,
                        counts.loss_sum / std::max<double>(1.0, static_cast<double>(counts.local)));
    }
    if (setup_.curves == nullptr || in_epoch % kLogEvery != 0) return;
    const auto hit = record_.lines.logging.hit();
    setup_.curves->log(step + 1, record_.notes.back(), steps_.recorder().last_step(),
                       record_.phases);
}

void TrainingLoop::note_step(const TrainingSteps::Counts& counts) {
    const auto& reading = steps_.last_reading();
    record_.notes.push_back({.read_s = reading.read,
                             .decode_s = reading.decode,
                             .augment_s = reading.augment,
                             .rate = learning_rate_,
                             .loss_sum = counts.loss_sum,
                             .global_count = static_cast<double>(counts.global),
                             .true_count = static_cast<double>(counts.unrepeated)});
    epoch_.time_s += steps_.recorder().last_step().step;
    epoch_.steps += 1;
    epoch_.samples += counts.unrepeated;
    epoch_.loss_sum += counts.loss_sum;
    epoch_.global_count += static_cast<double>(counts.global);
}

void TrainingLoop::note_reductions() {
    if (!record_.reductions.add(steps_.reductions())) return;
    if (record_.facts.bucket_bytes.size() != steps_.reduction_count())
        record_.facts = steps_.facts();  // the buckets were rebuilt
}

// True to go on. All ranks come to the same answer. Outside the timed steps; how often: StopPoll.
bool TrainingLoop::check_between_steps(std::int64_t step) {
    const auto hit = record_.lines.checks.hit();
    stop_.unit_done();
    const bool due = stop_.due() || ends_at(step) || setup_.schedule.ends_epoch(step) ||
                     checkpoint_due(step) || record_.convergence.due(counted(step));
    if (!due) return equality_.holds();
    std::int64_t first_bad = first_bad_step_;
    setup_.control.allreduce(comm::view(std::span(&first_bad, 1)), comm::ReduceOp::min);
    if (first_bad != kNever) {
        const auto bad = comm::gather_values(setup_.control, static_cast<double>(first_bad_step_));
        const auto rank = std::min_element(bad.begin(), bad.end()) - bad.begin();
        bad_loss_ = fmt::format(
            "the loss is not a number from step {} on (first on rank {}); lower --lr, or check the "
            "data",
            first_bad + 1, rank);
        return false;
    }
    late_ = late_on_any();
    if (record_.convergence.wanted()) enough_ = enough_steps(late_, step);
    const bool by_plan = ends_at(step) || enough_;
    if (stop_.ask() && !by_plan) record_.end.signal = stop_.signal();
    record_.end.at_time_limit = late_ && !by_plan && stop_signal() == 0;
    return !record_.end.at_time_limit && !by_plan && stop_signal() == 0 && equality_.holds();
}

bool TrainingLoop::ends_at(std::int64_t step) const {
    return step + 1 == setup_.schedule.total;
}

std::int64_t TrainingLoop::counted(std::int64_t step) const {
    return std::max<std::int64_t>(0, step + 1 - setup_.schedule.first - setup_.schedule.warmup);
}

// The planned steps are made in any case; then the target, the time limit or the most steps end the
// loop.
bool TrainingLoop::enough_steps(bool late, std::int64_t step) {
    const std::int64_t now = counted(step);
    const bool ends = now >= record_.least_steps && (late || step + 1 == setup_.schedule.total);
    if (record_.convergence.due(now) || (ends && now > record_.convergence.seen()))
        look_at_convergence(now);
    return record_.convergence.reached() || ends;
}

void TrainingLoop::look_at_convergence(std::int64_t now) {
    const auto first =
        static_cast<std::size_t>(setup_.schedule.warmup + record_.convergence.seen());
    const auto since =
        column_of(std::span(steps_.recorder().steps()).subspan(first), &measure::StepTimes::step);
    setup_.progress.activity(fmt::format("looking at the interval after {} steps", now));
    record_.convergence.look(setup_.control, since);
}

void TrainingLoop::finish_epoch(std::int64_t step, bool last) {
    bool as_planned = true;
    if (evaluation_due(step, last)) {
        const base::Annotation mark("evaluate");
        const auto start = base::Clock::now();
        as_planned = evaluate_epoch(epoch_);
        if (epoch_.evaluated) record_.lines.evaluation.add(base::seconds_since(start));
    }
    record_.epochs.push_back(epoch_);
    if (setup_.curves != nullptr) setup_.curves->log_validation(step + 1, epoch_);
    if (as_planned) return;
    record_.end.signal = stop_.signal();
    // The limit may have come in the evaluation: it is the end that --target-ci may have.
    if (record_.convergence.wanted() && late_ && !enough_) enough_ = enough_steps(late_, step);
    record_.end.at_time_limit = stop_signal() == 0 && !enough_;
    if (ends_at(step) || enough_) record_.end.missing = "the evaluation was made";
}

// A run that failed its checks has no accuracy.
bool TrainingLoop::evaluation_due(std::int64_t step, bool last) const {
    if (!last && !setup_.schedule.ends_epoch(step)) return false;
    if (!bad_loss_.empty() || !equality_.holds()) return false;
    return setup_.options.settings.evaluate == "epoch" ||
           (last && setup_.options.settings.evaluate == "end");
}

bool TrainingLoop::checkpoint_due(std::int64_t step) const {
    return setup_.checkpoints != nullptr &&
           setup_.checkpoints->due(step + 1, setup_.schedule.ends_epoch(step));
}

// Only what has passed the checks is worth going on from: a bad state must not replace a good one.
void TrainingLoop::save_checkpoint(std::int64_t step) {
    record_.end.has_checkpoint = false;  // an earlier one is not of where the run ends
    if (setup_.checkpoints == nullptr || !bad_loss_.empty() || !equality_.holds()) return;
    setup_.progress.activity("writing a checkpoint");
    const auto start = measure::Clock::now();
    if (steps_.keeps_ranks_equal()) equality_.compare(fmt::format("after step {}", step + 1));
    if (!equality_.holds()) return;
    if (!setup_.checkpoints->save(step + 1, model_, steps_.optimizer())) return;
    record_.checkpoint_times.push_back(base::seconds_since(start));
    record_.end.has_checkpoint = true;
}

// False where the evaluation was not made, or not to its end: after the time limit or a stop signal
// there is none.
bool TrainingLoop::evaluate_epoch(EpochRow& row) {
    if (late_ || stop_.signal() != 0) return false;
    setup_.progress.activity("evaluating the test samples");
    steps_.broadcast_buffers();
    const auto& test = *setup_.data.test;
    const auto ranks = setup_.control.world_size();
    const std::int64_t batch = *setup_.options.settings.eval_batch_size;
    const std::int64_t largest_part = base::share_of(test.size(), 0, ranks).count;
    stop_.restart();
    const auto start = measure::Clock::now();
    const auto mine = train::evaluate(
        model_, test, base::share_of(test.size(), setup_.control.rank(), ranks),
        {.workers = setup_.options.input.workers,
         .prefetch = setup_.options.input.prefetch,
         .batch = batch,
         .allocate = {}},
        steps_.converter(), [this] { return evaluation_goes_on(); },
        (largest_part + batch - 1) / batch);
    stop_.restart();
    if (late_ || stop_.signal() != 0) return false;
    double sums[] = {mine.loss, mine.correct, static_cast<double>(mine.count)};
    setup_.control.allreduce(comm::view(std::span(sums)), comm::ReduceOp::sum);
    row.evaluated = true;
    row.validation_time_s = base::seconds_since(start);
    row.validation_loss = sums[0] / sums[2];
    if (test.layout().target.element == data::Element::i64)
        row.validation_accuracy = sums[1] / sums[2];
    evaluated_samples_ = static_cast<std::int64_t>(sums[2]);
    return true;
}

// Asked after each batch.
bool TrainingLoop::evaluation_goes_on() {
    base::count_progress();
    stop_.unit_done();
    if (!stop_.due()) return true;
    late_ = late_on_any();
    return !stop_.ask() && !late_;
}

bool TrainingLoop::late_on_any() {
    if (!setup_.options.common.time_limit.has_value()) return false;
    std::int64_t late = base::seconds_since(start_) > *setup_.options.common.time_limit ? 1 : 0;
    setup_.control.allreduce(comm::view(std::span(&late, 1)), comm::ReduceOp::max);
    return late == 1;
}

void TrainingLoop::report_progress(std::int64_t step, double loss) {
    const double seconds = base::seconds_since(start_);
    const double samples =
        base::real(*setup_.options.settings.global_batch_size * (step + 1 - setup_.schedule.first));
    const std::int64_t total =
        record_.convergence.wanted()
            ? std::min(setup_.schedule.total, setup_.schedule.warmup + record_.convergence.next())
            : setup_.schedule.total;
    const auto& settings = setup_.options.settings;
    const double step_s = seconds / base::real(step + 1 - setup_.schedule.first);
    const bool unknown = evaluated_samples_ < 0 && settings.evaluate != "off";
    setup_.progress.afterwards(base::real(settings.overlap_steps.value_or(0)) * step_s,
                               unknown ? "the evaluation" : "");
    setup_.progress.update(
        step + 1, total, samples / seconds, "samples/s",
        fmt::format("epoch {} loss {:.4f}", setup_.schedule.epoch_of(step) + 1, loss));
}

CheckResult TrainingLoop::equality_verdict() const {
    return equality_.verdict(
        steps_.keeps_ranks_equal() ? "" : "equal at the start; sync none lets ranks drift apart");
}

CheckResult TrainingLoop::loss_verdict() const {
    const std::string check = "loss is a number";
    if (setup_.options.input.kind == Input::io_only)
        return {check, "not verified", "nothing was computed"};
    if (!bad_loss_.empty()) return {check, "failed", bad_loss_};
    if (record_.notes.size() == 0) return {check, "not verified", "no step was made"};
    return {check, "passed", fmt::format("in {} steps", record_.notes.size())};
}

CheckResult TrainingLoop::evaluation_verdict() const {
    const std::string check = "test samples counted once";
    if (setup_.options.settings.evaluate == "off") return {check, kDoesNotApply, "--evaluate off"};
    const bool wanted = bad_loss_.empty() && equality_.holds();
    const char* const why = !wanted               ? ""
                            : late_               ? ": the time limit had come"
                            : stop_.signal() != 0 ? ": the run was stopped"
                                                  : "";
    if (evaluated_samples_ < 0)
        return {check, "not verified", fmt::format("no evaluation was made{}", why)};
    const bool right = evaluated_samples_ == setup_.data.test->size();
    return {check, right ? "passed" : "failed",
            fmt::format("{} of {} test samples were evaluated", evaluated_samples_,
                        setup_.data.test->size())};
}

std::vector<CheckResult> TrainingLoop::verdicts() const {
    if (setup_.options.settings.ablation) return {equality_verdict(), gate_};
    return {equality_verdict(), gate_, loss_verdict(), evaluation_verdict()};
}

}  // namespace ranklab::experiments
