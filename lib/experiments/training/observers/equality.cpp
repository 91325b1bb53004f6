// Whether all ranks have the same parameters: at the start, with --check-parameters step after each
// step, before a checkpoint, and at the end.
#include <fmt/format.h>

#include "experiments/training/checks.hpp"
#include "experiments/training/observer.hpp"

namespace ranklab::experiments {
namespace {

class Equality final : public StepObserver {
  public:
    explicit Equality(ObservedRun& observed)
        : StepObserver(observed),
          compares_(observed.steps.keeps_ranks_equal()),
          each_step_(compares_ && observed.options.settings.check_parameters == "step"),
          equality_(observed.model, observed.control) {
        compare("at the start", Compared::parameters_and_buffers);
    }

    void after(const MadeStep& made) override {
        if (!each_step_) return;
        compare_after(made);
        if (!equality_.holds()) observed_.end.agree_now();
    }
    bool goes_on(const MadeStep& made, bool last) override {
        const bool ends = last || observed_.end.interrupted();
        if (compares_ && !observed_.end.failed && observed_.saves_after(made.step, ends))
            compare_after(made);
        return equality_.holds();
    }
    void end() override {
        if (compares_ && !observed_.end.failed) compare("at the end");
    }

    std::optional<CheckResult> check() const override {
        return equality_.verdict(
            compares_ ? "" : "equal at the start; sync none lets ranks drift apart");
    }

  private:
    void compare_after(const MadeStep& made) {
        compare(fmt::format("after step {}", made.step + 1));
    }
    void compare(const std::string& when, Compared what = Compared::parameters) {
        equality_.compare(when, what);
        if (!equality_.holds()) observed_.end.failed = true;
    }

    bool compares_, each_step_;
    RankEquality equality_;
};

}  // namespace

ObserverEntry equality_entry() {
    return {.make = make_observer<Equality>, .in_trials = true};
}

}  // namespace ranklab::experiments
