// Checkpoints of a running training: when one is due, saving, and resuming from one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "experiments/training/checkpoint_file.hpp"
#include "experiments/training/checkpoint_state.hpp"
#include "experiments/training/options.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

class TrainingSteps;

class Checkpoints {
  public:
    /// Collective. Checks that the folder can be written. With --resume rank 0 reads the checkpoint
    /// and broadcasts it; if there is none yet, the log says so and the run starts from the
    /// beginning. Its settings must be equal to `options` as far as they decide the parameters'
    /// values. Throws OptionError, DataError or EnvironmentError on all ranks.
    Checkpoints(const TrainingOptions& options, std::int64_t samples, const nn::Model& model,
                comm::Communicator& control);

    /// Steps of the run that this one resumes; 0 for a new one.
    std::int64_t completed_steps() const { return resumed_from_; }

    /// Collective, before the first step. Puts model, optimizer, scaler and random generators where
    /// the stored run left them, if there is one. Throws DataError if they do not fit.
    void restore(nn::Model& model, TrainingSteps& steps);

    /// Whether one is due after that many steps, not counting those at the end of a run and before
    /// evaluations.
    bool due(std::int64_t completed_steps, bool ends_epoch) const {
        return every_ > 0 ? completed_steps % every_ == 0 : ends_epoch;
    }

    /// Collective. Returns on all ranks once rank 0 has the file on the disk; false if that failed:
    /// the failure is logged, the last file stays, and the run goes on.
    bool save(std::int64_t completed_steps, const nn::Model& model, train::Optimizer& optimizer);

    /// On rank 0: adds facts on what was resumed and written, and a warning for each failed write.
    /// The last one decides the exit code if it failed.
    void describe(results::Run& run) const;

  private:
    void together_on_file(const std::function<void()>& work);
    void find(bool resumes);
    void keep_states_of(TrainingSteps& steps);
    void write(Checkpoint& checkpoint, const nn::Model& model, train::Optimizer& optimizer);

    comm::Communicator& control_;
    CheckpointFile file_;
    std::int64_t every_;
    CheckpointSettings settings_;
    std::vector<RankState> states_{torch_cpu_generator()};
    std::optional<Checkpoint> stored_;  // until restore
    std::int64_t resumed_from_ = 0;
    std::int64_t written_ = 0;
    std::int64_t last_step_ = 0;  // completed in the last one written
    std::size_t bytes_ = 0;       // of the last one written
    std::vector<base::Failure> failures_;
    bool last_failed_ = false;
};

}  // namespace ranklab::experiments
