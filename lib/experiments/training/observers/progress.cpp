// The progress bar: steps, samples/s, the loss and the work that is left.
#include <fmt/format.h>

#include "experiments/training/observer.hpp"

namespace ranklab::experiments {
namespace {

class ProgressBar final : public StepObserver {
  public:
    using StepObserver::StepObserver;

    void after(const MadeStep& made) override {
        const auto hit = observed_.lines.hit(&LineTimes::progress);
        const auto& settings = observed_.options.settings;
        const double seconds = observed_.end.seconds();
        const double steps = base::real(made.step + 1 - observed_.schedule.first);
        auto& sink = observed_.around.progress;
        const bool evaluates = settings.evaluate != "off" && observed_.validations.empty();
        const auto pairs = *settings.overlap_steps;  // without the pair that warms up
        sink.afterwards(base::real(pairs > 0 ? 2 * (pairs + 1) : 0) * seconds / steps,
                        evaluates ? "the evaluation" : "");
        sink.update(made.step + 1, observed_.steps_to_come,
                    base::real(*settings.global_batch_size) * steps / seconds, "samples/s",
                    fmt::format("epoch {} loss {:.4f}", observed_.schedule.epoch_of(made.step) + 1,
                                made.loss_sum / std::max(1.0, base::real(made.local))));
    }
};

}  // namespace

ObserverEntry progress_entry() {
    return {.make = make_observer<ProgressBar>};
}

}  // namespace ranklab::experiments
