// --target-ci: ends the run once the interval of the step time is narrow enough.
#include <fmt/format.h>

#include "experiments/training/observer.hpp"

namespace ranklab::experiments {
namespace {

class TargetInterval final : public StepObserver {
  public:
    explicit TargetInterval(ObservedRun& observed)
        : StepObserver(observed),
          least_(*observed.options.settings.steps),
          convergence_(convergence_of(observed.options.settings.target_ci, least_)) {
        expect_next();
    }

    void after(const MadeStep& made) override {
        if (convergence_.due(observed_.counted(made.step))) observed_.end.wanted = true;
    }
    // Makes the planned steps in any case. Then the target, the time limit or the largest number of
    // steps ends the run.
    bool goes_on(const MadeStep& made, bool last) override {
        const auto now = observed_.counted(made.step);
        const bool out_of_time = now >= least_ && (observed_.end.late() || last);
        if (convergence_.due(now) || out_of_time) look(now);
        observed_.end.enough = convergence_.reached() || out_of_time;
        return !observed_.end.enough;
    }
    // If the time limit passed in the last evaluation, but after the planned steps, the run counts
    // as ended by --target-ci.
    void end() override {
        if (!observed_.end.at_time_limit) return;
        const auto now = observed_.counted(observed_.made.back().step);
        if (now < least_) return;
        look(now);
        observed_.end.enough = true;
        observed_.end.at_time_limit = false;
    }

    void fill(results::Run& run, RankMeasurements&) override {
        add_convergence(run, convergence_, "steps", least_);
    }

  private:
    void look(std::int64_t now) {
        if (now == convergence_.seen()) return;
        observed_.around.progress.activity(
            fmt::format("computing the interval after {} steps", now));
        const auto seen = static_cast<std::size_t>(convergence_.seen());
        convergence_.look(observed_.control,
                          column_of(observed_.counted_steps().subspan(seen),
                                    [](const MadeStep& made) { return made.times.step; }));
        expect_next();
    }
    void expect_next() {
        observed_.steps_to_come =
            std::min(observed_.schedule.total, observed_.schedule.warmup + convergence_.next());
    }

    std::int64_t least_;
    measure::Convergence convergence_;
};

}  // namespace

ObserverEntry convergence_entry() {
    return {.wanted = [](auto& options) { return options.settings.target_ci.has_value(); },
            .make = make_observer<TargetInterval>};
}

}  // namespace ranklab::experiments
