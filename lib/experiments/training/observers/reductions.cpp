// When each rank's gradients were ready, handed over and summed, and for which rank others wait.
#include "experiments/training/communication.hpp"
#include "experiments/training/observer.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

class Reductions final : public StepObserver {
  public:
    using StepObserver::StepObserver;

    void after(const MadeStep& made) override {
        if (observed_.schedule.counts(made.step)) sampled_.add(observed_.steps.reductions());
    }

    void end() override {
        const auto& sync = observed_.steps.sync();
        for (const auto& stamp : sync.stamps()) buckets_.bytes.push_back(stamp.bytes);
        for (const auto& bucket : sync.buckets()) buckets_.parameters.push_back(bucket.size());
    }

    void fill(results::Run& run, RankMeasurements&) override {
        if (!run.valid || sampled_.steps().empty()) return;
        add_reductions(run, sampled_, buckets_, medians(run), observed_.control);
    }

  private:
    StepMedians medians(const results::Run& run) const {
        std::vector<double> mine;
        for (std::size_t phase = 0; phase < base::kPhaseCount; ++phase)
            mine.push_back(stats::quantile(
                column_of(observed_.counted_steps(),
                          [&](const MadeStep& made) { return made.times.phases[phase]; }),
                0.5));
        return {measure::gather_columns(observed_.control, mine),
                run.median(vocabulary::kStepTime)};
    }

    SampledSteps sampled_;
    Buckets buckets_;
};

}  // namespace

ObserverEntry reductions_entry() {
    return {.wanted = [](auto& options) { return options.input != Input::io_only; },
            .make = make_observer<Reductions>};
}

}  // namespace ranklab::experiments
