// --checkpoint DIR: writes the file, and restores the run that --resume continues.
#pragma once

#include <cstdint>
#include <optional>

#include "comm/communicator.hpp"
#include "experiments/training/checkpoint_file.hpp"
#include "experiments/training/options.hpp"

namespace ranklab::experiments {

class TrainingSteps;

class Checkpoint {
  public:
    /// Collective. Checks that the folder can be written. With --resume rank 0 opens the file; if
    /// there is none yet, the log says so and the run starts from the beginning. The file's
    /// settings must equal `options` if the parameters' values depend on them. Throws OptionError,
    /// DataError or EnvironmentError on all ranks.
    Checkpoint(const TrainingOptions& options, std::int64_t samples, const nn::Model& model,
               comm::Communicator& control);

    /// Steps that the resumed run had completed; 0 for a new run.
    std::int64_t completed_steps() const { return resumed_from_; }

    /// Collective, before the first step. Puts model, optimizer, scaler and random generators where
    /// the stored run left them, if there is one. Throws DataError if they do not fit.
    void restore(nn::Model& model, TrainingSteps& steps);

    /// Collective. The states that each rank has of its own, such as random generators.
    RankBytes gather_states(const TrainingSteps& steps) const;
    /// For rank 0. Returns the bytes of the file once they are on the disk.
    std::uint64_t write(std::int64_t completed_steps, const nn::Model& model, TrainingSteps& steps,
                        const RankBytes& by_rank);

    const std::filesystem::path& path() const { return file_.path(); }

  private:
    void on_file(const std::function<void()>& work);
    void find();

    comm::Communicator& control_;
    CheckpointFile file_;
    CheckpointSettings settings_;
    std::optional<hdf5::File> stored_;  // on rank 0, until restore
    std::int64_t resumed_from_ = 0;
};

}  // namespace ranklab::experiments
