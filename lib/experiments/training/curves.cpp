#include "experiments/training/curves.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <span>

#include "base/numbers.hpp"
#include "comm/exchange.hpp"

namespace ranklab::experiments {

Curves::Curves(const std::string& folder, bool resumes, std::int64_t first,
               const std::vector<options::Effective>& settings, comm::Communicator& control)
    : control_(control), first_(first), last_step_(first), last_(base::Clock::now()) {
    comm::all_or_throw(control, [&] {
        if (control.rank() > 0) return;
        file_ = std::make_unique<results::EventFile>(folder, resumes, "tensorboard");
        for (const auto& [row, value] : settings) settings_.emplace_back(row->name, value);
        settings_.emplace_back("ranks", fmt::format("{}", control.world_size()));
    });
}

void Curves::log(std::int64_t step, const StepNotes& notes, const measure::StepTimes& times,
                 const std::vector<base::Phase>& phases) {
    std::vector<double> sums{notes.loss_sum, times.step};
    sums.insert(sums.end(), times.phases.begin(), times.phases.end());
    control_.allreduce(comm::view(std::span(sums)), comm::ReduceOp::sum);
    if (!file_) return;
    const double ranks = base::real(control_.world_size());
    const bool is_first = last_step_ == first_;  // start-up is not in its time
    const double seconds =
        is_first ? times.step * base::real(step - first_) : base::seconds_since(last_);
    std::vector<results::Scalar> scalars{
        {"Loss/train", sums[0] / notes.global_count},
        {"Learning Rate", notes.rate},
        {"Avg iters per sec", base::real(step - last_step_) / seconds},
        {"Throughput/samples per sec", notes.true_count * ranks / sums[1]},
        {"Phases/step", sums[1] / ranks}};
    for (const auto phase : phases) {
        const auto index = base::number_of(phase);
        scalars.push_back(
            {fmt::format("Phases/{}", base::kPhaseNames[index]), sums[2 + index] / ranks});
    }
    write(step, std::move(scalars));
    last_step_ = step;
    last_ = base::Clock::now();
}

void Curves::log_validation(std::int64_t step, const EpochRow& row) {
    if (!file_ || !row.evaluated) return;
    last_ += std::chrono::duration_cast<base::Clock::duration>(
        std::chrono::duration<double>(row.validation_time_s));  // no part of the steps' time
    std::vector<results::Scalar> scalars{{"Loss/valid", row.validation_loss}};
    if (!std::isnan(row.validation_accuracy))
        scalars.push_back({"Accuracy/valid", row.validation_accuracy});
    write(step, std::move(scalars));
}

// The file begins with its first point: a run that is refused leaves none.
void Curves::write(std::int64_t step, std::vector<results::Scalar> scalars) {
    if (!settings_.empty()) whole_ = file_->start(first_ + 1) && file_->add_settings(settings_);
    settings_.clear();
    whole_ = whole_ && file_->add(step, scalars);
}

}  // namespace ranklab::experiments
