// Checkpoints of a running training: when, by whom, and how a run goes on from one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "experiments/training/checkpoint_file.hpp"
#include "experiments/training/checkpoint_state.hpp"
#include "options/options.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// Adds to `facts` the settled options on which the parameters' values depend.
CheckpointSettings settings_of_numbers(const std::vector<options::Effective>& settings,
                                       CheckpointSettings facts);

class Checkpoints {
  public:
    struct Plan {
        std::string folder;
        bool resume = false;
        std::int64_t every = 0;       ///< steps; 0: at each epoch's end
        CheckpointSettings settings;  ///< equal in the run that this one goes on from
    };

    /// Collective. Looks at the folder, and with `resume` reads the checkpoint on rank 0 and hands
    /// it to all; where there is none yet, the log says so and the run begins anew. `model`
    /// determines how much will be written. OptionError, DataError or EnvironmentError, on all
    /// ranks, before the work.
    Checkpoints(const Plan& plan, comm::Communicator& control, const nn::Model& model);

    /// Adds a state that each rank saves and restores for itself. To be called before restore and
    /// save, in one order on all ranks. LibTorch's CPU generator is already included.
    void keep(RankState state) { states_.push_back(std::move(state)); }

    /// Steps of the run that this one resumes; 0 for a new one.
    std::int64_t completed_steps() const { return resumed_from_; }

    /// Collective. Puts model, optimizer and this rank's states where the stored run left them;
    /// does nothing without such a run. DataError where they do not fit.
    void restore(nn::Model& model, train::Optimizer& optimizer);

    /// Whether a checkpoint is due after that many steps. At the end of a run one always is.
    bool due(std::int64_t completed_steps, bool ends_epoch) const {
        return every_ > 0 ? completed_steps % every_ == 0 : ends_epoch;
    }

    /// Collective; returns on all ranks when rank 0 has the file on the disk. False where that
    /// failed: the failure is reported, the last file stays, and the run goes on.
    bool save(std::int64_t completed_steps, const nn::Model& model, train::Optimizer& optimizer);

    /// On rank 0: adds facts on what was resumed and written, a warning and an exit code where the
    /// last write failed.
    void describe(results::Run& run) const;

  private:
    void together_on_file(const std::function<void()>& work);
    void find(bool resume);
    void write(Checkpoint& checkpoint, const nn::Model& model, train::Optimizer& optimizer);

    comm::Communicator& control_;
    CheckpointFile file_;
    std::int64_t every_;
    CheckpointSettings settings_;
    std::vector<RankState> states_{torch_cpu_generator()};
    std::optional<Checkpoint> stored_;  // until restore
    std::int64_t resumed_from_ = 0;
    std::int64_t written_ = 0;
    std::int64_t last_step_ = 0;  // of the last one written
    std::size_t bytes_ = 0;       // of the same
    std::vector<std::string> failures_;
    int failure_code_ = 0;  // of the last attempt; 0: it went well
};

}  // namespace ranklab::experiments
