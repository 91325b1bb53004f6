#include "experiments/training_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "comm/exchange.hpp"
#include "monitor/process.hpp"

namespace ranklab::experiments {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
// Between steps the ranks agree every so often on whether to go on: often enough that a NaN ends the job
// soon, seldom enough that it costs nothing. It stands outside the timed steps.
constexpr std::int64_t kStepsBetweenChecks = 25;

double seconds_since(measure::Clock::time_point start) {
    return std::chrono::duration<double>(measure::Clock::now() - start).count();
}

torch::Dtype dtype_of(const TrainingOptions& options) {
    return options.precision == "fp64" ? torch::kDouble : torch::kFloat;
}

std::optional<Delay> delay_on(const TrainingLoop::Setup& setup) {
    const auto delay = parse_delay(setup.options.inject_delay, setup.control.world_size());
    return delay && delay->rank == setup.control.rank() ? delay : std::nullopt;
}

// Rank 0's running statistics are everyone's, where ranks are kept equal at all.
bool broadcasts_buffers(const TrainingLoop::Setup& setup, const nn::Model& model) {
    return setup.options.broadcast_buffers && setup.control.world_size() > 1 && !model.buffers().empty() &&
           entry_of(train::gradient_syncs(), setup.options.sync).keeps_ranks_equal;
}

// Stamps of more steps than these are not kept: the table says of how many.
constexpr std::size_t kMostStamps = 100000;

}  // namespace

TrainingLoop::TrainingLoop(const Setup& setup, nn::Model& model, data::Sampler& sampler)
    : setup_(setup),
      model_(model),
      sampler_(sampler),
      keeps_ranks_equal_(entry_of(train::gradient_syncs(), setup.options.sync).keeps_ranks_equal),
      recorder_(static_cast<std::size_t>(setup.schedule.total)),
      phases_(recorder_, delay_on(setup)),
      data_plane_(setup.data_plane),
      sync_(entry_of(train::gradient_syncs(), setup.options.sync)
                .make({.data = data_plane_,
                       .control = setup.control,
                       .first_cap_bytes = std::min(train::kFirstBucketBytes, setup.options.bucket_cap_bytes),
                       .cap_bytes = setup.options.bucket_cap_bytes,
                       .progress = setup.reduction_progress,
                       .transfer = setup.transfer,
                       .compression = setup.options.compression})),
      buffers_(broadcasts_buffers(setup, model) ? std::make_unique<train::BufferSync>(model, data_plane_)
                                                : nullptr),
      optimizer_(entry_of(train::optimizers(), setup.options.optimizer)
                     .make(train::trained_parameters(model),
                           {.lr = setup.options.lr, .momentum = setup.options.momentum})),
      trainer_(model, *sync_, *optimizer_, phases_, buffers_.get()),
      normalize_(setup.source.pixel_mean, setup.source.pixel_std, dtype_of(setup.options)),
      first_bad_step_(kNever) {
    record_.schedule = setup.schedule;
}

std::vector<Verdict> TrainingLoop::run() {
    setup_.progress.activity("broadcasting the parameters");
    train::agree_on_parameters(train::trained_parameters(model_), setup_.control);
    train::broadcast_parameters(model_, setup_.control);
    if (setup_.checkpoints != nullptr) setup_.checkpoints->restore(model_, *optimizer_);
    compare_parameters("at the start");
    model_.train();
    if (!check_gradient()) return verdicts();
    setup_.control.barrier();
    start_ = measure::Clock::now();
    for (std::int64_t step = setup_.schedule.first; step < setup_.schedule.total; ++step) {
        setup_.progress.activity("training");
        do_step(step);
        const bool last = step + 1 == setup_.schedule.total;
        const bool goes_on = check_between_steps(step) && !last;
        if (!goes_on || setup_.schedule.ends_epoch(step)) finish_epoch(step);
        if (!goes_on || checkpoint_due(step)) save_checkpoint(step);
        if (!goes_on) break;
    }
    if (keeps_ranks_equal_) compare_parameters("at the end");
    record_.steps = recorder_.steps();
    return verdicts();
}

void TrainingLoop::start_epoch(std::int64_t epoch) {
    sampler_.set_epoch(epoch);
    epoch_ = {.epoch = epoch + 1};
    epoch_.lr = setup_.options.lr_schedule == "step"
                    ? train::step_lr(setup_.options.lr, setup_.options.gamma, epoch)
                    : setup_.options.lr;
    optimizer_->set_lr(epoch_.lr);
}

// Without synchronisation a rank trains alone: its own mean is the loss.
double TrainingLoop::weight_of(std::int64_t samples, std::int64_t global) const {
    const bool alone = setup_.control.world_size() == 1 || !keeps_ranks_equal_;
    if (alone && setup_.options.accumulate == 1) return 1.0;
    const std::int64_t divisor = alone ? setup_.options.accumulate * samples : global;
    return divisor == 0 ? 0.0 : static_cast<double>(samples) / static_cast<double>(divisor);
}

// Before any timing: the strategy's gradient against a plain sum. True where there is nothing wrong.
bool TrainingLoop::check_gradient() {
    if (!keeps_ranks_equal_ && setup_.control.world_size() > 1) return true;
    setup_.progress.activity("checking the first gradient");
    sampler_.set_epoch(0);
    data::gather_batch(setup_.sets.train, sampler_.batch(0), batch_);
    const double weight = weight_of(batch_.count(), sampler_.global_count(0));
    gate_ = train::check_first_gradient(
        model_, *sync_, normalize_(batch_, setup_.sets.train.shape), weight, setup_.data_plane,
        setup_.control, train::gradient_bound(dtype_of(setup_.options), setup_.options.compression));
    return gate_->passed;
}

void TrainingLoop::do_step(std::int64_t step) {
    if (begins_part_of_epoch(step)) epoch_start_ = measure::Clock::now();
    recorder_.begin_step();
    const StepCounts counts = compute_step(step);
    recorder_.end_step();

    if (step == setup_.schedule.first) record_.time_to_first_step_s = monitor::seconds_since_process_start();
    if (!std::isfinite(counts.loss_sum)) first_bad_step_ = std::min(first_bad_step_, step);
    if (setup_.schedule.counts(step)) note_reductions();
    record_.loss_sums.push_back(counts.loss_sum);
    record_.global_counts.push_back(counts.global);
    record_.true_counts.push_back(counts.unrepeated);
    epoch_.steps += 1;
    epoch_.samples += counts.unrepeated;
    if (setup_.options.check_parameters == "step" && keeps_ranks_equal_)
        compare_parameters(fmt::format("after step {}", step + 1));
    report_progress(step, counts.loss_sum / std::max<double>(1.0, static_cast<double>(counts.local)));
}

bool TrainingLoop::begins_part_of_epoch(std::int64_t step) const {
    return step % setup_.schedule.steps_per_epoch == 0 || step == setup_.schedule.first;
}

// The micro-batches of a step; an epoch's last step may have fewer of them.
TrainingLoop::StepCounts TrainingLoop::compute_step(std::int64_t step) {
    const std::int64_t in_epoch = step % setup_.schedule.steps_per_epoch;
    const std::int64_t first = in_epoch * setup_.options.accumulate;
    const std::int64_t end = std::min(first + setup_.options.accumulate, sampler_.steps_per_epoch());
    StepCounts counts;
    if (begins_part_of_epoch(step)) {
        const auto mark = phases_.phase(base::Phase::data);
        start_epoch(setup_.schedule.epoch_of(step));
    }
    for (std::int64_t micro = first; micro < end; ++micro) {
        counts.global += sampler_.global_count(micro);
        counts.unrepeated += sampler_.true_count(micro);
    }
    std::vector<std::pair<torch::Tensor, std::int64_t>> losses;
    for (std::int64_t micro = first; micro < end; ++micro) {
        {
            const auto mark = phases_.phase(base::Phase::data);
            data::gather_batch(setup_.sets.train, sampler_.batch(micro), batch_);
        }
        train::TensorBatch tensors;
        {
            const auto mark = phases_.phase(base::Phase::copy);
            tensors = normalize_(batch_, setup_.sets.train.shape);
        }
        losses.emplace_back(
            trainer_.accumulate(tensors, weight_of(batch_.count(), counts.global), micro + 1 == end),
            batch_.count());
    }
    trainer_.update();
    // Read here, not between forward and backward, where it would wait for a device.
    for (const auto& [loss, samples] : losses) {
        if (loss.defined()) counts.loss_sum += loss.item<double>() * static_cast<double>(samples);
        counts.local += samples;
    }
    return counts;
}

StepReductions TrainingLoop::reductions_of_step() const {
    const auto seconds = [&](measure::Clock::time_point when) {
        return std::chrono::duration<double>(when - recorder_.step_start()).count();
    };
    const auto backward = recorder_.last(base::Phase::backward);
    StepReductions step{seconds(backward.begin), seconds(backward.end), {}};
    for (const auto& stamp : sync_->stamps())
        step.reductions.push_back(
            {seconds(stamp.ready), seconds(stamp.start), seconds(stamp.moving), seconds(stamp.end)});
    return step;
}

void TrainingLoop::note_reductions() {
    if (record_.reductions.size() * sync_->stamps().size() >= kMostStamps) return;
    record_.reductions.push_back(reductions_of_step());
    record_.facts.bucket_bytes.clear();
    for (const auto& stamp : sync_->stamps()) record_.facts.bucket_bytes.push_back(stamp.bytes);
    record_.facts.bucket_parameters.clear();
    for (const auto& bucket : sync_->buckets()) record_.facts.bucket_parameters.push_back(bucket.size());
    record_.facts.stamped_steps = record_.reductions.size();
}

void TrainingLoop::probe_overlap() {
    if (setup_.options.overlap_steps == 0 || record_.hit_time_limit) return;
    setup_.progress.activity("steps with and without communication, for the overlap");
    const auto timed_step = [&](std::int64_t i, bool silent) {
        data_plane_.silence(silent);
        setup_.control.barrier();
        recorder_.begin_step();
        compute_step(i % setup_.schedule.steps_per_epoch);
        recorder_.end_step();
        data_plane_.silence(false);
        return recorder_.steps().back().step;
    };
    // The first pair warms up. Pairs in turns, so that a machine that slows down slows both.
    for (std::int64_t i = 0; i <= setup_.options.overlap_steps; ++i) {
        double times[2] = {0, 0};
        for (const bool silent : {i % 2 == 0, i % 2 != 0}) {
            times[silent ? 1 : 0] = timed_step(i, silent);
            if (!silent && i > 0) record_.probe.reductions.push_back(reductions_of_step());
        }
        if (i == 0) continue;
        record_.probe.with.push_back(times[0]);
        record_.probe.without.push_back(times[1]);
    }
}

// True to go on. All ranks come to the same answer.
bool TrainingLoop::check_between_steps(std::int64_t step) {
    const bool due = (step + 1) % kStepsBetweenChecks == 0 || setup_.schedule.ends_epoch(step) ||
                     step + 1 == setup_.schedule.total || checkpoint_due(step);
    if (!due) return differing_.empty();
    const bool late = setup_.options.time_limit > 0 && seconds_since(start_) > setup_.options.time_limit;
    std::int64_t facts[] = {first_bad_step_, late ? 0 : 1};
    setup_.control.allreduce(comm::view(std::span(facts)), comm::ReduceOp::min);
    if (facts[0] != kNever) {
        const auto bad = comm::gather_values(setup_.control, static_cast<double>(first_bad_step_));
        const auto rank = std::min_element(bad.begin(), bad.end()) - bad.begin();
        bad_loss_ = fmt::format(
            "the loss is not a number from step {} on (first on rank {}); lower --lr, or check the data",
            facts[0] + 1, rank);
        return false;
    }
    record_.hit_time_limit = facts[1] == 0 && step + 1 < setup_.schedule.total;
    return !record_.hit_time_limit && differing_.empty();
}

void TrainingLoop::finish_epoch(std::int64_t step) {
    epoch_.time_s = seconds_since(epoch_start_);
    const bool last = step + 1 == setup_.schedule.total || record_.hit_time_limit;
    const bool wanted = setup_.options.evaluate == "epoch" || (setup_.options.evaluate == "end" && last);
    // A run that failed its checks has no accuracy.
    if (wanted && bad_loss_.empty() && differing_.empty()) evaluate_epoch(epoch_);
    record_.epochs.push_back(epoch_);
}

bool TrainingLoop::checkpoint_due(std::int64_t step) const {
    return setup_.checkpoints != nullptr &&
           setup_.checkpoints->due(step + 1, setup_.schedule.ends_epoch(step));
}

// Only what has passed the checks is worth going on from: a bad state must not replace a good one.
void TrainingLoop::save_checkpoint(std::int64_t step) {
    if (setup_.checkpoints == nullptr || !bad_loss_.empty()) return;
    setup_.progress.activity("writing a checkpoint");
    const auto start = measure::Clock::now();
    if (keeps_ranks_equal_) compare_parameters(fmt::format("after step {}", step + 1));
    if (!differing_.empty()) return;
    if (setup_.checkpoints->save(step + 1, model_, *optimizer_))
        record_.checkpoint_times.push_back(seconds_since(start));
    epoch_start_ += measure::Clock::now() - start;  // an epoch's time is that of its steps
}

void TrainingLoop::evaluate_epoch(EpochRow& row) {
    setup_.progress.activity("evaluating the test samples");
    if (buffers_) buffers_->broadcast();
    const auto& test = setup_.sets.test;
    const auto part = data::part_of(test.size(), setup_.control.rank(), setup_.control.world_size());
    const auto mine = train::evaluate(model_, test, part, setup_.options.evaluation_batch, normalize_);
    double sums[] = {mine.loss, static_cast<double>(mine.correct), static_cast<double>(mine.count)};
    setup_.control.allreduce(comm::view(std::span(sums)), comm::ReduceOp::sum);
    row.evaluated = true;
    row.validation_loss = sums[0] / sums[2];
    row.validation_accuracy = sums[1] / sums[2];
    evaluated_samples_ = static_cast<std::int64_t>(sums[2]);
}

void TrainingLoop::compare_parameters(const std::string& when) {
    ++comparisons_;
    const auto hash = static_cast<std::int64_t>(train::parameter_hash(model_));
    std::int64_t extremes[] = {hash,
                               ~hash};  // the minimum of the complement is the complement of the maximum
    setup_.control.allreduce(comm::view(std::span(extremes)), comm::ReduceOp::min);
    if (extremes[0] != ~extremes[1] && differing_.empty()) differing_ = when;
}

void TrainingLoop::report_progress(std::int64_t step, double loss) {
    const double seconds = seconds_since(start_);
    const double samples =
        static_cast<double>(setup_.options.local_batch * setup_.options.accumulate *
                            setup_.control.world_size() * (step + 1 - setup_.schedule.first));
    setup_.progress.update(step + 1, setup_.schedule.total, samples / seconds, "samples/s",
                           fmt::format("epoch {} loss {:.4f}", setup_.schedule.epoch_of(step) + 1, loss));
}

Verdict TrainingLoop::gate_verdict() const {
    const std::string check = "first gradient is the plain sum";
    if (!gate_) return {check, "not verified", "sync none sums nothing"};
    const std::string detail = fmt::format("largest relative difference {:.1e} ({}), allowed {:.0e}",
                                           gate_->worst, gate_->where, gate_->bound);
    if (gate_->passed) return {check, "passed", detail};
    return {check, "failed",
            fmt::format("the first gradient of --sync {} is not the sum over ranks: {}; nothing was timed",
                        setup_.options.sync, detail)};
}

std::vector<Verdict> TrainingLoop::verdicts() const {
    std::vector<Verdict> list;
    if (setup_.control.world_size() == 1) {
        list.push_back({"parameters equal on all ranks", "not verified", "there is one rank"});
    } else if (!differing_.empty()) {
        list.push_back(
            {"parameters equal on all ranks", "failed",
             fmt::format("they differ {}; the MPI library's allreduce or a node's memory may be at fault",
                         differing_)});
    } else {
        list.push_back({"parameters equal on all ranks", keeps_ranks_equal_ ? "passed" : "not verified",
                        keeps_ranks_equal_
                            ? fmt::format("bit by bit, {} times", comparisons_)
                            : std::string("equal at the start; sync none lets ranks drift apart")});
    }
    list.push_back(gate_verdict());
    list.push_back({"loss is a number",
                    !bad_loss_.empty()          ? "failed"
                    : record_.loss_sums.empty() ? "not verified"
                                                : "passed",
                    bad_loss_.empty() ? fmt::format("in {} steps", record_.loss_sums.size()) : bad_loss_});
    if (evaluated_samples_ < 0) {
        list.push_back({"test samples counted once", "not verified", "no evaluation was made"});
    } else {
        const bool right = evaluated_samples_ == setup_.sets.test.size();
        list.push_back({"test samples counted once", right ? "passed" : "failed",
                        fmt::format("{} of {} test samples were evaluated", evaluated_samples_,
                                    setup_.sets.test.size())});
    }
    return list;
}

}  // namespace ranklab::experiments
