// Groups steps and evaluations into epochs: the table `epochs`, the time of the whole training, and
// the time to --target-loss.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/training/observer.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

class Epochs final : public StepObserver {
  public:
    using StepObserver::StepObserver;

    // The observer `evaluation` runs before this one, so the epoch's validation is done.
    bool goes_on(const MadeStep& made, bool) override {
        if (observed_.schedule.ends_epoch(made.step)) close();
        return true;
    }
    void end() override {
        total_s_ = observed_.end.seconds();
        if (first_row_ < observed_.made.size()) close();
    }

    void fill(results::Run& run, RankMeasurements& of_ranks) override {
        std::vector<double> whole;
        results::Rows table("epochs");
        for (const auto& epoch : observed_.epochs) {
            add(run, table, epoch);
            if (is_whole(epoch)) whole.push_back(epoch.own_seconds);
        }
        if (!whole.empty()) of_ranks.add(vocabulary::kEpochTime, "epoch", whole);
        of_ranks.add_of_run("training_time_s", total_s_);
        add_time_to_loss(run, of_ranks);
        run.tables.push_back(std::move(table).table());
    }

  private:
    std::int64_t steps_per_epoch() const { return observed_.schedule.steps_per_epoch; }
    bool is_whole(const Epoch& epoch) const { return epoch.steps == steps_per_epoch(); }

    // Makes a row of the steps since the last row. Collective.
    void close() {
        const auto steps = std::span(observed_.made).subspan(first_row_);
        first_row_ = observed_.made.size();
        Epoch epoch{.number = observed_.schedule.epoch_of(steps.front().step) + 1,
                    .steps = std::ssize(steps),
                    .lr = steps.front().learning_rate};
        double loss_sum = 0;
        std::int64_t global = 0;
        for (const auto& made : steps) {
            epoch.samples += made.unrepeated;
            epoch.own_seconds += made.times.step;
            loss_sum += made.loss_sum;
            global += made.global;
        }
        const auto& all = observed_.validations;
        if (!all.empty() && all.back().step == steps.back().step) epoch.validation = all.back();
        const auto longest = measure::largest_of_ranks(
            observed_.control,
            {epoch.own_seconds, observed_.end.seconds(), epoch.validation.seconds});
        epoch.seconds = longest[0], epoch.elapsed_s = longest[1];
        epoch.validation.seconds = longest[2];
        if (observed_.options.input != Input::io_only)
            epoch.loss =
                measure::ordered_sums_of_ranks(observed_.control, std::span(&loss_sum, 1)).front() /
                base::real(global);
        observed_.epochs.push_back(epoch);
    }

    void add_time_to_loss(results::Run& run, RankMeasurements& of_ranks) const {
        const auto target = observed_.options.settings.target_loss;
        if (!target) return;
        const auto& all = observed_.epochs;
        const auto first = std::ranges::find_if(
            all, [&](const Epoch& epoch) { return epoch.validation.loss <= *target; });
        if (first != all.end())
            of_ranks.add_of_run("time_to_loss_s", first->elapsed_s);
        else
            run.warnings.push_back(fmt::format("no evaluation reached --target-loss {}", *target));
    }

    void add(results::Run& run, results::Rows& table, const Epoch& epoch) const {
        const auto& test = epoch.validation;
        table.add({epoch.number, epoch.steps, steps_per_epoch(), epoch.samples, epoch.seconds,
                   run.valid ? epoch.rate() : stats::kNone, epoch.lr, epoch.loss, test.loss,
                   test.accuracy, test.seconds, epoch.elapsed_s});
        if (is_whole(epoch)) return;
        const bool untrained =
            std::isfinite(test.loss) && observed_.schedule.first + epoch.steps < steps_per_epoch();
        if (untrained || observed_.options.settings.epochs)
            run.warnings.push_back(fmt::format(
                "epoch {}: only {} of {} steps ran, so it counts in no epoch time{}", epoch.number,
                epoch.steps, steps_per_epoch(), untrained ? "; ignore accuracy" : ""));
    }

    std::size_t first_row_ = 0;  // of the steps since the last epoch
    double total_s_ = 0;
};

}  // namespace

ObserverEntry epochs_entry() {
    return {.make = make_observer<Epochs>};
}

}  // namespace ranklab::experiments
