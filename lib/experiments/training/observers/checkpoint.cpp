// --checkpoint: saves the training's state, once the observers equality and loss have checked it.
#include <fmt/format.h>

#include "base/log.hpp"
#include "comm/exchange.hpp"
#include "experiments/training/observer.hpp"
#include "options/schema.hpp"

namespace ranklab::experiments {
namespace {

class Saving final : public StepObserver {
  public:
    using StepObserver::StepObserver;

    void after(const MadeStep& made) override {
        if (observed_.saves_after(made.step, /*last=*/false)) observed_.end.wanted = true;
    }

    // A state that failed a check must not replace a good one.
    bool goes_on(const MadeStep& made, bool last) override {
        if (observed_.end.failed || !observed_.saves_after(made.step, last)) return true;
        observed_.around.progress.activity("writing a checkpoint");
        const auto start = base::Clock::now();
        save(made.step + 1);
        if (observed_.end.has_checkpoint) seconds_.push_back(base::seconds_since(start));
        return true;
    }

    // Only a failure of the last write changes the exit code.
    void fill(results::Run& run, RankMeasurements& of_ranks) override {
        if (!seconds_.empty()) of_ranks.add("checkpoint_time_s", "checkpoint", seconds_);
        if (observed_.control.rank() > 0) return;
        const Facts fact{run, "checkpoint"};
        fact("file", observed_.checkpoint->path().string());
        fact("resumed_from_step", observed_.checkpoint->completed_steps());
        fact("written", seconds_.size());
        fact("last_step", last_step_);
        fact("bytes", bytes_);
        for (const auto& failure : failures_)
            if (!observed_.end.has_checkpoint && &failure == &failures_.back())
                add_failure(run, failure);
            else
                run.warnings.push_back(options::user_message(failure.sentence, failure.settings));
    }

  private:
    // Rank 0 writes; the other ranks wait for it, so that its write is not part of their next
    // step's time. A checkpoint that cannot be written does not end the run.
    void save(std::int64_t completed_steps) {
        const auto by_rank = observed_.checkpoint->gather_states(observed_.steps);
        const bool written = observed_.control.rank() == 0 && write(completed_steps, by_rank);
        observed_.end.has_checkpoint = comm::from_root(observed_.control, written);
    }
    bool write(std::int64_t completed_steps, const RankBytes& by_rank) {
        try {
            bytes_ = observed_.checkpoint->write(completed_steps, observed_.model, observed_.steps,
                                                 by_rank);
            last_step_ = completed_steps;
            return true;
        } catch (const std::exception& error) {
            auto failure = base::describe_failure(error);
            if (failure.code != base::ExitCode::internal)
                failure.code = base::ExitCode::environment;
            failure.sentence = fmt::format("the checkpoint after step {} was not written: {}",
                                           completed_steps, failure.sentence);
            base::log::warn(options::user_message(failure.sentence, failure.settings));
            failures_.push_back(std::move(failure));
            return false;
        }
    }

    std::vector<double> seconds_;  // of each checkpoint written, on this rank
    std::int64_t last_step_ = 0;   // completed in the last checkpoint written
    std::uint64_t bytes_ = 0;      // of the last checkpoint written
    std::vector<base::Failure> failures_;
};

}  // namespace

ObserverEntry checkpoint_entry() {
    return {.wanted = [](auto& options) { return options.settings.checkpoint.has_value(); },
            .make = make_observer<Saving>};
}

}  // namespace ranklab::experiments
