// --checkpoint: saves the training's state. Equality and loss were checked before.
#include "experiments/training/observer.hpp"

namespace ranklab::experiments {
namespace {

class Saving final : public StepObserver {
  public:
    using StepObserver::StepObserver;

    void after(const MadeStep& made) override {
        if (observed_.saves_after(made.step, /*last=*/false)) observed_.end.agree_now();
    }

    // A state that failed a check must not replace a good one.
    bool goes_on(const MadeStep& made, bool last) override {
        if (observed_.end.failed || !observed_.saves_after(made.step, last)) return true;
        observed_.around.progress.activity("writing a checkpoint");
        const auto start = base::Clock::now();
        observed_.end.has_checkpoint = observed_.checkpoints->save(made.step + 1, observed_.model,
                                                                   observed_.steps.optimizer());
        if (observed_.end.has_checkpoint) seconds_.push_back(base::seconds_since(start));
        return true;
    }

    void fill(results::Run& run, RankMeasurements& of_ranks) override {
        if (!seconds_.empty()) of_ranks.add("checkpoint_time_s", "checkpoint", seconds_);
        if (observed_.control.rank() == 0) observed_.checkpoints->describe(run);
    }

  private:
    std::vector<double> seconds_;  // of each written one, on this rank
};

}  // namespace

ObserverEntry checkpoint_entry() {
    return {.wanted = [](const ObservedRun& observed) { return observed.checkpoints != nullptr; },
            .make = make_observer<Saving>};
}

}  // namespace ranklab::experiments
