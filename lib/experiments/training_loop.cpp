#include "experiments/training_loop.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "comm/exchange.hpp"
#include "monitor/host.hpp"
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

void add_row(measure::RankSamples& samples, const std::vector<train::ReplicaTimes>& times,
             double train::ReplicaTimes::*time) {
    samples.ranks = times.size();
    for (const auto& of_replica : times) samples.values.push_back(of_replica.*time);
}

}  // namespace

TrainingLoop::TrainingLoop(const Setup& setup, nn::Model& model, data::Sampler& sampler)
    : setup_(setup),
      model_(model),
      sampler_(sampler),
      keeps_ranks_equal_(entry_of(train::gradient_syncs(), setup.options.sync).keeps_ranks_equal),
      recorder_(static_cast<std::size_t>(setup.schedule.total)),
      sync_(entry_of(train::gradient_syncs(), setup.options.sync).make(setup.data_plane)),
      optimizer_(entry_of(train::optimizers(), setup.options.optimizer)
                     .make(model.parameters(), {.lr = setup.options.lr, .momentum = setup.options.momentum})),
      stepper_(make_stepper()),
      normalize_(setup.source.pixel_mean, setup.source.pixel_std, dtype_of(setup.options)),
      first_bad_step_(kNever) {
    record_.schedule = setup.schedule;
    record_.phases = {base::Phase::data, base::Phase::copy};
    for (const auto phase : stepper_->phases()) record_.phases.push_back(phase);
}

std::unique_ptr<train::Stepper> TrainingLoop::make_stepper() {
    if (setup_.options.mode != "dp")
        return std::make_unique<train::Trainer>(model_, *sync_, *optimizer_, recorder_);
    const auto count = static_cast<std::size_t>(setup_.options.replicas);
    auto replicas = std::make_unique<train::DataParallel>(
        model_,
        train::ReplicaSetup{.devices = std::vector<torch::Device>(count, torch::kCPU),
                            .make = setup_.make_model,
                            .seed = setup_.options.seed,
                            .threads = at::get_num_threads(),
                            .cores = monitor::cores_of(monitor::cpuset())},
        *optimizer_, recorder_);
    replicas_ = replicas.get();
    return replicas;
}

std::vector<Verdict> TrainingLoop::run() {
    setup_.progress.activity("broadcasting the parameters");
    train::broadcast_parameters(model_, setup_.control);
    compare_parameters("at the start");
    model_.train();
    if (replicas_ != nullptr) check_first_gradient();
    if (replica_check_ && !replica_check_->passed) return verdicts();
    setup_.control.barrier();
    start_ = measure::Clock::now();
    for (std::int64_t step = 0; step < setup_.schedule.total; ++step) {
        setup_.progress.activity("training");
        do_step(step);
        const bool last = step + 1 == setup_.schedule.total;
        const bool goes_on = check_between_steps(step) && !last;
        if (!goes_on || setup_.schedule.ends_epoch(step)) finish_epoch(step);
        if (!goes_on) break;
    }
    if (keeps_ranks_equal_) compare_parameters("at the end");
    record_.steps = recorder_.steps();
    return verdicts();
}

// Before the timed steps: what is wrong would be wrong in all of them.
void TrainingLoop::check_first_gradient() {
    setup_.progress.activity("checking the replicas' gradient");
    gather_samples(0);
    replica_check_ = train::check_replicas(*replicas_, normalize_(batch_, setup_.sets.train.shape));
}

// Replica r of N takes of the batch what rank r of N would: with the same random numbers, dp's losses are
// then those of ddp.
void TrainingLoop::gather_samples(std::int64_t in_epoch) {
    const auto samples = sampler_.batch(in_epoch);
    if (replicas_ == nullptr) {
        data::gather_batch(setup_.sets.train, samples, batch_);
    } else {
        data::gather_batch(setup_.sets.train, data::dealt(samples, setup_.options.replicas), batch_);
    }
}

void TrainingLoop::start_epoch(std::int64_t epoch) {
    sampler_.set_epoch(epoch);
    epoch_ = {.epoch = epoch + 1};
    epoch_.lr = setup_.options.lr_schedule == "step"
                    ? train::step_lr(setup_.options.lr, setup_.options.gamma, epoch)
                    : setup_.options.lr;
    optimizer_->set_lr(epoch_.lr);
}

void TrainingLoop::do_step(std::int64_t step) {
    const std::int64_t in_epoch = step % setup_.schedule.steps_per_epoch;
    if (in_epoch == 0) epoch_start_ = measure::Clock::now();
    recorder_.begin_step();
    {
        const auto mark = recorder_.phase(base::Phase::data);
        if (in_epoch == 0) start_epoch(setup_.schedule.epoch_of(step));
        gather_samples(in_epoch);
    }
    train::TensorBatch tensors;
    {
        const auto mark = recorder_.phase(base::Phase::copy);
        tensors = normalize_(batch_, setup_.sets.train.shape);
    }
    const std::int64_t global = sampler_.global_count(in_epoch);
    // Without synchronisation a rank trains alone: its own mean is the loss.
    const bool alone = setup_.control.world_size() == 1 || !keeps_ranks_equal_;
    const double loss = stepper_->train_step(
        tensors, alone ? 1.0 : static_cast<double>(batch_.count()) / static_cast<double>(global));
    recorder_.end_step();
    if (replicas_ != nullptr) {
        add_row(record_.replica_forward, replicas_->times(), &train::ReplicaTimes::forward);
        add_row(record_.replica_backward, replicas_->times(), &train::ReplicaTimes::backward);
    }

    if (step == 0) record_.time_to_first_step_s = monitor::seconds_since_process_start();
    if (!std::isfinite(loss)) first_bad_step_ = std::min(first_bad_step_, step);
    record_.loss_sums.push_back(loss * static_cast<double>(batch_.count()));
    record_.global_counts.push_back(global);
    record_.true_counts.push_back(sampler_.true_count(in_epoch));
    epoch_.steps += 1;
    epoch_.samples += record_.true_counts.back();
    if (setup_.options.check_parameters == "step" && keeps_ranks_equal_)
        compare_parameters(fmt::format("after step {}", step + 1));
    report_progress(step);
}

// True to go on. All ranks come to the same answer.
bool TrainingLoop::check_between_steps(std::int64_t step) {
    const bool due = (step + 1) % kStepsBetweenChecks == 0 || setup_.schedule.ends_epoch(step) ||
                     step + 1 == setup_.schedule.total;
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

void TrainingLoop::evaluate_epoch(EpochRow& row) {
    setup_.progress.activity("evaluating the test samples");
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

void TrainingLoop::report_progress(std::int64_t step) {
    const double seconds = seconds_since(start_);
    const double samples =
        static_cast<double>(setup_.options.local_batch * setup_.control.world_size() * (step + 1));
    const double loss = record_.loss_sums.back() / std::max<double>(1.0, static_cast<double>(batch_.count()));
    setup_.progress.update(step + 1, setup_.schedule.total, samples / seconds, "samples/s",
                           fmt::format("epoch {} loss {:.4f}", setup_.schedule.epoch_of(step) + 1, loss));
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
    if (replica_check_) {
        list.push_back({"replicas make one model's gradient", replica_check_->passed ? "passed" : "failed",
                        replica_check_->detail});
        if (!replica_check_->passed) return list;
    }
    list.push_back({"loss is a number", bad_loss_.empty() ? "passed" : "failed",
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
