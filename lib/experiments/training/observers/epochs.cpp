// The table of epochs, made of their steps and evaluations.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/training/observer.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

// One row of the table. Its seconds are the sum over its steps, without the time between steps.
struct Epoch {
    std::int64_t number = 0;  ///< from 1, as in PyTorch's examples
    std::int64_t steps = 0, samples = 0, global = 0;
    double seconds = 0, loss_sum = 0;  ///< on this rank
    double lr = 0;                     ///< at its first step
    const Validation* validation = nullptr;
};

std::vector<Epoch> epochs_of(const ObservedRun& observed) {
    std::vector<Epoch> epochs;
    for (const auto& made : observed.made) {
        const auto number = observed.schedule.epoch_of(made.step) + 1;
        if (epochs.empty() || epochs.back().number != number)
            epochs.push_back({.number = number, .lr = made.learning_rate});
        auto& epoch = epochs.back();
        epoch.steps += 1;
        epoch.samples += made.unrepeated;
        epoch.global += made.global;
        epoch.seconds += made.times.step;
        epoch.loss_sum += made.loss_sum;
    }
    for (const auto& one : observed.validations) {
        const auto number = observed.schedule.epoch_of(one.step) + 1;
        std::ranges::find(epochs, number, &Epoch::number)->validation = &one;
    }
    return epochs;
}

class Epochs final : public StepObserver {
  public:
    using StepObserver::StepObserver;

    void fill(results::Run& run, RankMeasurements& of_ranks) override {
        const auto epochs = epochs_of(observed_);
        of_ranks.add(vocabulary::kEpochTime, "epoch", epochs, &Epoch::seconds);
        const auto losses =
            measure::ordered_sums_of_ranks(observed_.control, column_of(epochs, &Epoch::loss_sum));
        const auto evaluations = of_ranks.largest(column_of(epochs, [](const Epoch& epoch) {
            return epoch.validation != nullptr ? epoch.validation->seconds : stats::kNone;
        }));
        const auto longest = run.find(vocabulary::kEpochTime)->largest_of_rows();
        results::Rows table("epochs");
        for (std::size_t i = 0; i < epochs.size(); ++i)
            add(run, table, epochs[i], longest[i], losses[i], evaluations[i]);
        run.tables.push_back(std::move(table).table());
    }

  private:
    void add(results::Run& run, results::Rows& table, const Epoch& epoch, double seconds,
             double loss_sum, double evaluation_s) const {
        const auto planned = observed_.schedule.steps_per_epoch;
        const bool computes = observed_.options.input != Input::io_only;
        const auto* const validation = epoch.validation;
        table.add({epoch.number, epoch.steps, planned, epoch.samples, seconds,
                   run.valid && seconds > 0 ? base::real(epoch.samples) / seconds : stats::kNone,
                   epoch.lr, computes ? loss_sum / base::real(epoch.global) : stats::kNone,
                   validation != nullptr ? validation->loss : stats::kNone,
                   validation != nullptr ? validation->accuracy : stats::kNone, evaluation_s});
        if (epoch.steps == planned) return;
        const bool untrained =
            validation != nullptr && observed_.schedule.first + epoch.steps < planned;
        run.warnings.push_back(fmt::format("epoch {}: {} of {} steps ran; ignore epoch time{}",
                                           epoch.number, epoch.steps, planned,
                                           untrained ? " and accuracy" : ""));
    }
};

}  // namespace

ObserverEntry epochs_entry() {
    return {.make = make_observer<Epochs>};
}

}  // namespace ranklab::experiments
