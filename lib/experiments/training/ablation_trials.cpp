#include "experiments/training/ablation_trials.hpp"

#include <fmt/format.h>

#include <chrono>
#include <random>
#include <utility>

#include "comm/exchange.hpp"

namespace ranklab::experiments {
namespace {

bool is_silent(Trial trial) {
    return trial == Trial::nocomm || trial == Trial::compute;
}

Input input_of(Trial trial) {
    if (trial == Trial::io) return Input::io_only;
    return trial == Trial::synthetic || trial == Trial::compute ? Input::synthetic : Input::real;
}

class Trials {
  public:
    Trials(TrainingSteps& steps, const AblationPlan& plan, comm::Communicator& control, StopPoll& stop)
        : steps_(steps), plan_(plan), control_(control), stop_(stop) {}

    /// What a sync strategy settles with the ranks in its first step (the order of its buckets) must not fall
    /// into a silent trial.
    void settle() {
        steps_.plan(next_, next_ + 1);
        steps_.make(next_++);
    }
    /// Of no use where the ranks were told to stop.
    TrialTimes make(Trial trial) {
        steps_.set_input(input_of(trial));
        steps_.silence(is_silent(trial));
        steps_.plan(next_, next_ + plan_.steps + 1);
        // The first step finds no batches made ahead: it is not timed.
        steps_.make(next_);
        control_.barrier();
        TrialTimes times{.trial = trial, .seconds = {}, .step_times = {}, .steps = plan_.steps, .samples = 0};
        const double mine = make_steps(times);
        next_ += plan_.steps + 1;
        steps_.silence(false);
        steps_.set_input(Input::real);
        times.seconds = comm::gather_values(control_, mine);
        // Without communication each rank went its own way.
        if (is_silent(trial)) steps_.make_ranks_equal();
        return times;
    }

  private:
    // The seconds of this rank's steps. Asking for signals is none of them.
    double make_steps(TrialTimes& times) {
        using Clock = measure::Clock;
        Clock::duration spent{};
        stop_.restart();
        for (std::int64_t i = 1; i <= plan_.steps; ++i) {
            const auto start = Clock::now();
            times.samples += steps_.make(next_ + i).unrepeated;
            spent += Clock::now() - start;
            times.step_times.push_back(steps_.recorder().last_step().step);
            if (stop_.asked()) break;
        }
        return std::chrono::duration<double>(spent).count();
    }

    TrainingSteps& steps_;
    AblationPlan plan_;
    comm::Communicator& control_;
    StopPoll& stop_;
    std::int64_t next_ = 0;
};

}  // namespace

void make_trials(TrainingSteps& steps, const AblationPlan& plan, comm::Communicator& control,
                 base::ProgressSink& progress, StopPoll& stop,
                 const std::function<void(std::vector<TrialTimes> round)>& take) {
    std::vector<Trial> round{Trial::io, Trial::synthetic, Trial::full};
    if (control.world_size() > 1 && steps.keeps_ranks_equal()) {
        round.push_back(Trial::nocomm);
        round.push_back(Trial::compute);
    }
    Trials trials(steps, plan, control, stop);
    trials.settle();
    std::mt19937_64 random(plan.seed);
    for (std::int64_t r = 0; r < plan.warmup + plan.trials; ++r) {
        // Fisher and Yates, by numbers that are the same with every standard library.
        for (std::size_t i = round.size(); i > 1; --i) std::swap(round[i - 1], round[random() % i]);
        std::vector<TrialTimes> made;
        for (const Trial trial : round) {
            progress.activity(fmt::format("ablation: {}round {} of {}, {}", r < plan.warmup ? "warm-up " : "",
                                          r < plan.warmup ? r + 1 : r + 1 - plan.warmup,
                                          r < plan.warmup ? plan.warmup : plan.trials,
                                          kTrialNames[static_cast<std::size_t>(trial)]));
            made.push_back(trials.make(trial));
            // A stop that was heard in a round's very last step leaves the round whole.
            const bool whole = made.size() == round.size() && made.back().all_steps();
            if (stop.signal() != 0 && !whole) return;
        }
        if (r >= plan.warmup) take(std::move(made));
        if (stop.signal() != 0) return;
    }
}

}  // namespace ranklab::experiments
