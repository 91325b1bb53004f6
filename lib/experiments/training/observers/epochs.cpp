// The epochs, made of their steps and evaluations: the table `epochs`, the time of the whole
// training, and --log-lines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/progress.hpp"
#include "experiments/training/observer.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

// One row of the table, equal on all ranks. An epoch's seconds are the sum over its steps, without
// the time between steps.
struct Epoch {
    std::int64_t number = 0;  ///< from 1, as in PyTorch's examples
    std::int64_t steps = 0, samples = 0;
    double own_seconds = 0, seconds = 0;  ///< of this rank, of the slowest rank
    double lr = 0;                        ///< at its first step
    double loss = stats::kNone;
    double elapsed_s = 0;  ///< from the first step of the run to the epoch's evaluation
    Validation validation = {.seconds = stats::kNone, .loss = stats::kNone};

    double rate() const { return seconds > 0 ? base::real(samples) / seconds : stats::kNone; }
};

class Epochs final : public StepObserver {
  public:
    using StepObserver::StepObserver;

    void after(const MadeStep& made) override {
        const auto& settings = observed_.options.settings;
        if (!settings.log_lines || observed_.control.rank() > 0) return;
        const std::int64_t step = made.step % observed_.schedule.steps_per_epoch;
        const double loss = made.loss_sum / std::max(1.0, base::real(made.local));
        if (step % 10 == 0)
            print(fmt::format("Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.6f}", number_of(made),
                              step * *settings.global_batch_size, observed_.data.train->size(),
                              100 * base::real(step) / base::real(steps_per_epoch()), loss));
        since_.seconds += made.times.step;
        since_.loss += loss;
        if (++since_.steps < kEvery && step + 1 < steps_per_epoch()) return;
        if (since_.steps == kEvery)
            print(
                fmt::format("[{}, {}] loss: {:.3f}, iteration_time: {:.6f}s time/iter ({}): "
                            "{:.4f}",
                            number_of(made), step + 1, since_.loss / kEvery, since_.seconds, kEvery,
                            since_.seconds / kEvery));
        since_ = {};
    }
    // Evaluation, which comes first in the order of observers, has made its validation.
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
        for (const auto& epoch : epochs_) {
            add(run, table, epoch);
            if (is_whole(epoch)) whole.push_back(epoch.own_seconds);
        }
        if (!whole.empty()) of_ranks.add(vocabulary::kEpochTime, "epoch", whole);
        of_ranks.add_of_run("training_time_s", total_s_);
        add_time_to_loss(run, of_ranks);
        run.tables.push_back(std::move(table).table());
    }

  private:
    static constexpr std::int64_t kEvery = 100;

    std::int64_t steps_per_epoch() const { return observed_.schedule.steps_per_epoch; }
    std::int64_t number_of(const MadeStep& made) const {
        return observed_.schedule.epoch_of(made.step) + 1;
    }
    bool is_whole(const Epoch& epoch) const { return epoch.steps == steps_per_epoch(); }
    void print(const std::string& line) const { observed_.around.progress.line(line); }

    // Makes a row of the steps since the last row. Collective.
    void close() {
        const auto steps = std::span(observed_.made).subspan(first_row_);
        first_row_ = observed_.made.size();
        Epoch epoch{.number = number_of(steps.front()),
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
        epochs_.push_back(epoch);
        if (observed_.options.settings.log_lines && observed_.control.rank() == 0) print(epoch);
    }

    void print(const Epoch& epoch) const {
        const auto& test = epoch.validation;
        const auto samples = observed_.data.test->size();
        if (std::isfinite(test.accuracy))
            print(fmt::format("\nTest set: Average loss: {:.4f}, Accuracy: {:.0f}/{} ({:.0f}%)\n",
                              test.loss, test.accuracy * base::real(samples), samples,
                              100 * test.accuracy));
        if (!is_whole(epoch)) return;
        print(fmt::format("[{}], epoch time: {:.6f}s", epoch.number, epoch.seconds));
        print(fmt::format("Time taken for epoch {} is {:.6f} sec, avg {:.6f} samples/sec",
                          epoch.number, epoch.seconds, epoch.rate()));
        print(fmt::format("  Avg train loss={:.6f}", epoch.loss));
        if (std::isfinite(test.seconds))
            print(fmt::format("  Avg val loss={:.6f}\n  Total validation time: {:.6f} sec",
                              test.loss, test.seconds));
    }

    void add_time_to_loss(results::Run& run, RankMeasurements& of_ranks) const {
        const auto target = observed_.options.settings.target_loss;
        if (!target) return;
        const auto first = std::ranges::find_if(
            epochs_, [&](const Epoch& epoch) { return epoch.validation.loss <= *target; });
        if (first != epochs_.end())
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
            run.warnings.push_back(
                fmt::format("epoch {}: {} of {} steps ran; it is in no epoch time{}", epoch.number,
                            epoch.steps, steps_per_epoch(), untrained ? "; ignore accuracy" : ""));
    }

    std::size_t first_row_ = 0;  // of the steps since the last epoch
    std::vector<Epoch> epochs_;
    double total_s_ = 0;
    // Of the line per kEvery steps.
    struct {
        std::int64_t steps = 0;
        double seconds = 0, loss = 0;
    } since_;
};

}  // namespace

ObserverEntry epochs_entry() {
    return {.make = make_observer<Epochs>};
}

}  // namespace ranklab::experiments
