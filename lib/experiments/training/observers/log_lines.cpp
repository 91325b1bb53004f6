// --log-lines: the lines that PyTorch's examples print while they train.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/progress.hpp"
#include "experiments/training/observer.hpp"

namespace ranklab::experiments {
namespace {

class LogLines final : public StepObserver {
  public:
    using StepObserver::StepObserver;

    void after(const MadeStep& made) override {
        const std::int64_t step = made.step % observed_.schedule.steps_per_epoch;
        const double loss = made.loss_sum / std::max(1.0, base::real(made.local));
        if (step % 10 == 0)
            print(fmt::format("Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.6f}",
                              observed_.schedule.epoch_of(made.step) + 1,
                              step * *observed_.options.settings.global_batch_size,
                              observed_.data.train->size(),
                              100 * base::real(step) / base::real(steps_per_epoch()), loss));
        since_.seconds += made.times.step;
        since_.loss += loss;
        if (++since_.steps < kEvery && step + 1 < steps_per_epoch()) return;
        if (since_.steps == kEvery)
            print(
                fmt::format("[{}, {}] loss: {:.3f}, iteration_time: {:.6f}s time/iter ({}): "
                            "{:.4f}",
                            observed_.schedule.epoch_of(made.step) + 1, step + 1,
                            since_.loss / kEvery, since_.seconds, kEvery, since_.seconds / kEvery));
        since_ = {};
    }
    bool goes_on(const MadeStep&, bool) override {
        print_epochs();
        return true;
    }
    void end() override { print_epochs(); }

  private:
    static constexpr std::int64_t kEvery = 100;

    std::int64_t steps_per_epoch() const { return observed_.schedule.steps_per_epoch; }
    void print(const std::string& line) const {
        if (observed_.control.rank() == 0) observed_.around.progress.line(line);
    }
    void print_epochs() {
        for (; printed_ < observed_.epochs.size(); ++printed_) print(observed_.epochs[printed_]);
    }
    void print(const Epoch& epoch) const {
        const auto& test = epoch.validation;
        const auto samples = observed_.data.test->size();
        if (std::isfinite(test.accuracy))
            print(fmt::format("\nTest set: Average loss: {:.4f}, Accuracy: {:.0f}/{} ({:.0f}%)\n",
                              test.loss, test.accuracy * base::real(samples), samples,
                              100 * test.accuracy));
        if (epoch.steps != steps_per_epoch()) return;
        print(fmt::format("[{}], epoch time: {:.6f}s", epoch.number, epoch.seconds));
        print(fmt::format("Time taken for epoch {} is {:.6f} sec, avg {:.6f} samples/sec",
                          epoch.number, epoch.seconds, epoch.rate()));
        print(fmt::format("  Avg train loss={:.6f}", epoch.loss));
        if (std::isfinite(test.seconds))
            print(fmt::format("  Avg val loss={:.6f}\n  Total validation time: {:.6f} sec",
                              test.loss, test.seconds));
    }

    std::size_t printed_ = 0;  // epochs
    // Sums since the last line of the kind printed every kEvery steps.
    struct {
        std::int64_t steps = 0;
        double seconds = 0, loss = 0;
    } since_;
};

}  // namespace

ObserverEntry log_lines_entry() {
    return {.wanted = [](auto& options) { return options.settings.log_lines; },
            .make = make_observer<LogLines>};
}

}  // namespace ranklab::experiments
