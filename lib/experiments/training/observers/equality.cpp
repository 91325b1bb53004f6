// Checks that all ranks have the same parameters: at the start, after each step (with
// --check-parameters step), before a checkpoint, and at the end.
#include <fmt/format.h>

#include "experiments/training/observer.hpp"
#include "train/equal_state.hpp"

namespace ranklab::experiments {
namespace {

std::string times_text(std::int64_t count) {
    return count == 1 ? "once" : fmt::format("{} times", count);
}

class Equality final : public StepObserver {
  public:
    // Buffers (BatchNorm's running statistics) are equal only after a broadcast: each rank updates
    // its own in a step.
    explicit Equality(ObservedRun& observed)
        : StepObserver(observed),
          compares_(observed.steps.keeps_ranks_equal()),
          each_step_(compares_ && observed.options.settings.check_parameters == "step") {
        compare("at the start", /*with_buffers=*/true);
    }

    void after(const MadeStep& made) override {
        if (!each_step_) return;
        compare_after(made);
        if (!difference_.empty()) observed_.end.wanted = true;
    }
    bool goes_on(const MadeStep& made, bool last) override {
        const bool ends = last || observed_.end.interrupted();
        if (compares_ && !observed_.end.failed && observed_.saves_after(made.step, ends))
            compare_after(made);
        return difference_.empty();
    }
    void end() override {
        if (compares_ && !observed_.end.failed) compare("at the end");
    }

    std::optional<CheckResult> check() const override {
        const std::string check = "parameters equal on all ranks";
        if (observed_.control.world_size() == 1)
            return CheckResult{check, CheckOutcome::does_not_apply, "there is one rank"};
        if (!difference_.empty()) return CheckResult{check, CheckOutcome::failed, difference_};
        if (!compares_)
            return CheckResult{check, CheckOutcome::not_verified,
                               "equal at the start; with --sync none ranks drift apart"};
        const bool with_buffers = !observed_.model.buffers().empty();
        return CheckResult{
            check, CheckOutcome::passed,
            fmt::format("bit by bit, {}{}", times_text(comparisons_),
                        with_buffers ? "; buffers once, after rank 0's were broadcast" : "")};
    }

  private:
    void compare_after(const MadeStep& made) {
        compare(fmt::format("after step {}", made.step + 1));
    }
    // Keeps the first difference.
    void compare(const std::string& when, bool with_buffers = false) {
        ++comparisons_;
        observed_.steps.sync().complete_parameters();
        const auto found =
            train::difference_of_ranks(observed_.model, with_buffers, observed_.control);
        if (found.empty()) return;
        if (difference_.empty()) difference_ = fmt::format("ranks differ {}: {}", when, found);
        observed_.end.failed = true;
    }

    bool compares_, each_step_;
    std::int64_t comparisons_ = 0;
    std::string difference_;
};

}  // namespace

ObserverEntry equality_entry() {
    return {.make = make_observer<Equality>, .in_trials = true};
}

}  // namespace ranklab::experiments
