// The time limit and stop signals: they end the run between two steps.
#include <fmt/format.h>

#include "experiments/training/observer.hpp"

namespace ranklab::experiments {
namespace {

class Limits final : public StepObserver {
  public:
    using StepObserver::StepObserver;

    bool goes_on(const MadeStep&, bool last) override {
        auto& end = observed_.end;
        if (last) return true;  // the run ends as planned, or by a failure
        end.ended_by = end.signal();
        end.at_time_limit = end.late() && end.ended_by == 0;
        return !end.interrupted();
    }

    void fill(results::Run& run, RankMeasurements&) override {
        const auto& end = observed_.end;
        const bool resumes = end.has_checkpoint && end.missing.empty();
        mark_early_end(run, end.at_time_limit, end.ended_by, where(),
                       resumes ? ", and --resume continues from there" : "");
    }

  private:
    // "after 57 of 200 steps", "after all 200 steps, before the evaluation was made"
    std::string where() const {
        const auto total = observed_.schedule.total;
        const auto made = observed_.schedule.first + std::ssize(observed_.made);
        const auto& end = observed_.end;
        if (!end.missing.empty())
            return fmt::format("after all {} steps, before {}", made, end.missing);
        if (!observed_.options.settings.target_ci)
            return fmt::format("after {} of {} steps", made, total);
        const auto least = observed_.schedule.warmup + *observed_.options.settings.steps;
        if (made < least) return fmt::format("after {} of {} steps", made, least);
        return fmt::format("after {} steps (--target-ci needs at least {})", made, least);
    }
};

}  // namespace

ObserverEntry limits_entry() {
    return {.make = make_observer<Limits>};
}

}  // namespace ranklab::experiments
