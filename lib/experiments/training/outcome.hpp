// The Run that a training ends with.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "experiments/shared/experiment.hpp"
#include "experiments/training/checkpoint.hpp"
#include "experiments/training/loop.hpp"
#include "nn/model.hpp"

namespace ranklab::experiments {

class TrainingOutcome {
  public:
    /// Of what else a run tells than its loop; all of it outlives this.
    struct Facts {
        const TrainingOptions& options;
        const data::DataSet& data;
        const nn::Model& model;
        const Checkpoints* checkpoints = nullptr;
        std::string rate_warning;
    };

    TrainingOutcome(const RunContext& around, Facts facts) : around_(around), facts_(std::move(facts)) {}

    /// Writes a file beside the run. The run is not lost where that fails: it is stored, with that as its
    /// exit code. On rank 0, whose code all ranks agree on.
    void write_beside(const std::function<void()>& write) { write_beside(start_, write); }

    /// The whole run. Collective.
    results::Run finish(const TrainingLoop& loop);

  private:
    static void write_beside(results::Run& run, const std::function<void()>& write);
    results::Run run_of(const TrainingLoop& loop) const;
    void add_trials(results::Run& run, const TrainingLoop& loop) const;
    void add_facts(results::Run& run, const TrainingLoop& loop) const;

    const RunContext& around_;
    Facts facts_;
    results::Run start_;  // with what was said before the run was made
};

}  // namespace ranklab::experiments
