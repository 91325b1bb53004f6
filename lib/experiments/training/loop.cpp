#include "experiments/training/observer.hpp"

#include <algorithm>
#include <utility>

#include "comm/exchange.hpp"
#include "train/equal_state.hpp"

namespace ranklab::experiments {
namespace {

// Steps for which memory is reserved. In longer runs, memory grows between two steps.
constexpr std::int64_t kMostReserved = 1 << 20;

std::vector<std::unique_ptr<StepObserver>> make_observers(ObservedRun& observed) {
    std::vector<std::unique_ptr<StepObserver>> observers;
    for (const auto& entry : step_observers()) {
        if (observed.options.settings.ablation && !entry.in_trials) continue;
        if (entry.wanted == nullptr || entry.wanted(observed.options))
            observers.push_back(entry.make(observed));
    }
    return observers;
}

}  // namespace

TrainingLoop::TrainingLoop(ObservedRun& observed)
    : observed_(observed), rates_(observed.options.rate) {
    observed.around.progress.activity("broadcasting the parameters");
    train::broadcast_parameters(observed.model, observed.control);
    if (observed.checkpoint != nullptr)
        observed.checkpoint->restore(observed.model, observed.steps);
    // The checkpoint's scaler has the number of steps that it skipped in resumed runs; these steps
    // do not advance the learning rate.
    const auto* const scaler = observed.steps.scaler();
    updates_ = observed.schedule.first - (scaler == nullptr ? 0 : scaler->skipped());
    stop_if_asked(observed.control, "before the first step; nothing was measured");
    observed.model.train();
    base::in_step = true;  // the observers' check of the first gradient takes as long as a step
    observers_ = make_observers(observed);
    base::in_step = false;
}

void TrainingLoop::run() {
    if (observed_.end.failed) return;
    const auto& schedule = observed_.schedule;
    observed_.steps.plan(schedule.first, schedule.total);
    observed_.made.reserve(std::min(schedule.total - schedule.first, kMostReserved));
    observed_.control.barrier();
    observed_.around.started("checks before the first step");
    observed_.end.start_clock();
    for (std::int64_t step = schedule.first; step < schedule.total; ++step) {
        observed_.around.progress.activity("training");
        if (step == schedule.first + schedule.warmup) {
            observed_.around.counting.begins();
            observed_.control.barrier();  // sampling the hosts' use can delay one rank
        }
        make_step(step);
        if (!goes_on(observed_.made.back())) break;
    }
    observed_.around.counting.ends();
}

void TrainingLoop::make_step(std::int64_t step) {
    const double rate = rates_.rate(updates_, observed_.schedule.epoch_of(step));
    observed_.steps.optimizer().set_lr(rate);
    for (const auto& observer : observers_) observer->before(step);
    auto made = observed_.steps.make(step);
    auto* const start_up = observed_.around.start_up;
    if (step == observed_.schedule.first && start_up != nullptr) start_up->finish("the first step");
    made.learning_rate = rate;
    if (made.updated) ++updates_;
    observed_.made.push_back(made);
    for (const auto& observer : observers_) observer->after(made);
}

// Returns whether another step follows, the same on all ranks.
bool TrainingLoop::goes_on(const MadeStep& made) {
    auto& end = observed_.end;
    bool last = made.step + 1 == observed_.schedule.total;
    {
        const auto hit = observed_.lines.hit(&LineTimes::checks);
        end.unit_done();
        if (!last && !observed_.schedule.ends_epoch(made.step) && !end.due()) return true;
        end.ask();
        end.wanted = false;
    }
    for (const auto& observer : observers_) last = !observer->goes_on(made, last) || last;
    return !last;
}

void TrainingLoop::end() {
    for (const auto& observer : observers_) observer->end();
}

void TrainingLoop::fill(results::Run& run) const {
    std::vector<CheckResult> checks;
    for (const auto& observer : observers_)
        if (auto check = observer->check()) checks.push_back(*std::move(check));
    fill_verdicts(run, checks);
    RankMeasurements of_ranks(run, observed_.control);
    for (const auto& observer : observers_) observer->fill(run, of_ranks);
    of_ranks.finish();
    add_statistics(run);
}

}  // namespace ranklab::experiments
