#include "experiments/ablation_trials.hpp"

#include <fmt/format.h>

#include <chrono>
#include <random>

#include "comm/exchange.hpp"
#include "train/trainer.hpp"

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
    Trials(TrainingSteps& steps, nn::Model& model, const AblationPlan& plan, comm::Communicator& control)
        : steps_(steps), model_(model), plan_(plan), control_(control) {}

    TrialTimes make(Trial trial) {
        steps_.set_input(input_of(trial));
        steps_.silence(is_silent(trial));
        steps_.plan(next_, next_ + plan_.steps + 1);
        // The first step finds no batches made ahead: it is not timed.
        steps_.make(next_);
        control_.barrier();
        TrialTimes times{.trial = trial, .seconds = {}, .step_times = {}, .steps = plan_.steps, .samples = 0};
        const auto start = measure::Clock::now();
        for (std::int64_t i = 1; i <= plan_.steps; ++i) {
            times.samples += steps_.make(next_ + i).unrepeated;
            times.step_times.push_back(steps_.recorder().last_step().step);
        }
        const double mine = std::chrono::duration<double>(measure::Clock::now() - start).count();
        next_ += plan_.steps + 1;
        steps_.silence(false);
        steps_.set_input(Input::real);
        times.seconds = comm::gather_values(control_, mine);
        if (is_silent(trial)) make_equal();
        return times;
    }

  private:
    // Without communication each rank went its own way; rank 0's parameters and optimizer state are
    // everyone's again.
    void make_equal() {
        if (!steps_.keeps_ranks_equal()) return;
        train::broadcast_parameters(model_, control_);
        std::vector<torch::Tensor> state;
        for (const auto& kind : steps_.optimizer().state()) {
            for (const auto& tensor : kind.tensors) {
                if (tensor.defined()) state.push_back(tensor);
            }
        }
        train::broadcast_tensors(state, control_);
    }

    TrainingSteps& steps_;
    nn::Model& model_;
    AblationPlan plan_;
    comm::Communicator& control_;
    std::int64_t next_ = 0;
};

}  // namespace

std::vector<TrialTimes> make_trials(TrainingSteps& steps, nn::Model& model, const AblationPlan& plan,
                                    comm::Communicator& control, base::ProgressSink& progress) {
    std::vector<Trial> round{Trial::io, Trial::synthetic, Trial::full};
    if (control.world_size() > 1 && steps.keeps_ranks_equal()) {
        round.push_back(Trial::nocomm);
        round.push_back(Trial::compute);
    }
    Trials trials(steps, model, plan, control);
    std::mt19937_64 random(plan.seed);
    std::vector<TrialTimes> kept;
    for (std::int64_t r = 0; r < plan.warmup + plan.trials; ++r) {
        // Fisher and Yates, by numbers that are the same with every standard library.
        for (std::size_t i = round.size(); i > 1; --i) std::swap(round[i - 1], round[random() % i]);
        for (const Trial trial : round) {
            progress.activity(fmt::format("ablation: {}round {} of {}, {}", r < plan.warmup ? "warm-up " : "",
                                          r < plan.warmup ? r + 1 : r + 1 - plan.warmup,
                                          r < plan.warmup ? plan.warmup : plan.trials,
                                          kTrialNames[static_cast<std::size_t>(trial)]));
            auto times = trials.make(trial);
            if (r >= plan.warmup) kept.push_back(std::move(times));
        }
    }
    return kept;
}

}  // namespace ranklab::experiments
