// --overlap-steps: pairs of steps with and without communication, after the run. These steps change
// the parameters.

#include "experiments/training/communication.hpp"
#include "experiments/training/observer.hpp"

namespace ranklab::experiments {
namespace {

class OverlapPairsProbe final : public StepObserver {
  public:
    using StepObserver::StepObserver;

    void end() override {
        auto& end = observed_.end;
        if (end.failed || end.at_time_limit || end.ended_by != 0) return;
        observed_.around.progress.activity("steps with and without communication, for the overlap");
        make_pairs(*observed_.options.settings.overlap_steps);
        // Without communication the ranks drift apart.
        observed_.steps.make_ranks_equal();
        if (end.signal() == 0) return;
        end.ended_by = end.signal();
        end.missing = "the overlap was measured";
    }

    void fill(results::Run& run, RankMeasurements&) override {
        if (run.valid) add_overlap(run, pairs_, reductions_, observed_.control);
    }

  private:
    // The first pair warms up. Pairs begin alternately with either step, so that drift of the
    // machine affects both. A stop signal leaves fewer pairs.
    void make_pairs(std::int64_t pairs) {
        observed_.steps.plan(0, 2 * (pairs + 1));
        std::int64_t step = 0;
        for (std::int64_t i = 0; i <= pairs; ++i) {
            observed_.end.ask();
            if (observed_.end.signal() != 0) return;
            for (const bool silent : {i % 2 == 0, i % 2 != 0}) {
                observed_.steps.silence(silent);
                observed_.control.barrier();
                const auto times = observed_.steps.make(step++).times;
                observed_.steps.silence(false);
                if (i > 0) note(silent, times);
            }
        }
    }
    void note(bool silent, const measure::StepTimes& times) {
        (silent ? pairs_.without : pairs_.with).push_back(times.step);
        (silent ? pairs_.backward_without : pairs_.backward_with)
            .push_back(times.phases[base::number_of(base::Phase::backward)]);
        if (!silent) reductions_.push_back(observed_.steps.reductions());
    }

    OverlapPairs pairs_;
    std::vector<StepReductions> reductions_;  // of the steps with communication
};

}  // namespace

ObserverEntry overlap_entry() {
    return {.wanted = [](auto& options) { return *options.settings.overlap_steps > 0; },
            .make = make_observer<OverlapPairsProbe>};
}

}  // namespace ranklab::experiments
