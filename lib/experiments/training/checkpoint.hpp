// --checkpoint DIR: the file (HDF5, followed by a checksum; docs/checkpoint.md), the training state
// that it holds, and resuming from it. Reading throws DataError or Hdf5Error if the file is another
// model's, and then leaves the state partly changed.
#pragma once

#include <ATen/core/Generator.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "experiments/training/options.hpp"
#include "hdf5/file.hpp"
#include "nn/model.hpp"
#include "train/optimizer.hpp"

namespace ranklab::experiments {

/// FOLDER/checkpoint.h5. Has one writer at a time; a new file is written under another name, synced
/// and renamed. Errors name --checkpoint.
class CheckpointFile {
  public:
    /// An attribute of the root group, and its value.
    static constexpr const char* kSchemaName = "ranklab_checkpoint_schema";
    static constexpr std::int64_t kSchema = 4;

    explicit CheckpointFile(const std::filesystem::path& folder);

    const std::filesystem::path& path() const { return path_; }

    /// Called before the work: makes the folder and removes the temporary files of killed writers.
    /// Throws EnvironmentError if a file of `expected_bytes` could not be written now.
    void prepare(std::uint64_t expected_bytes) const;

    /// Returns nullopt if there is no file yet. Throws DataError unless the file is complete,
    /// undamaged and of this schema.
    std::optional<hdf5::File> open() const;

    /// Writes an HDF5 file and its checksum. Returns the bytes of both once they are on the disk.
    /// If it throws, the previous file is still there.
    std::uint64_t write(std::span<const std::byte> image) const;

  private:
    std::filesystem::path path_;
};

/// Values of options ("--lr") and facts ("ranks") by name.
using CheckpointSettings = std::map<std::string, std::string>;

void write_settings(const hdf5::Group& root, const CheckpointSettings& settings);
/// Throws OptionError if settings differ; the message has their values in both runs.
void check_same_settings(const CheckpointSettings& now, const hdf5::Group& root);

/// Writes an array per parameter.
void write_parameters(const hdf5::Group& group, const nn::Model& model);
/// Write and read parameters, buffers and the optimizer's state.
void write_training(const hdf5::Group& root, const nn::Model& model, train::Optimizer& optimizer);
void read_training(const hdf5::Group& root, nn::Model& model, train::Optimizer& optimizer);

/// A state of one rank, such as a random generator, as bytes. `load` throws DataError for bytes
/// that `save` did not make.
struct RankState {
    std::string name;
    std::function<std::string()> save;
    std::function<void(const std::string&)> load;
};
/// The bytes of each rank's states, in the states' order.
using RankBytes = std::vector<std::vector<std::string>>;

/// Returns what saves and loads the state of `generator`, and shares the generator.
RankState generator_state(const std::string& name, const at::Generator& generator);

void write_ranks(const hdf5::Group& root, const std::vector<RankState>& states,
                 const RankBytes& by_rank);
RankBytes read_ranks(const hdf5::Group& root, const std::vector<RankState>& states, int ranks);

class TrainingSteps;

class Checkpoint {
  public:
    /// Collective. Checks that the folder can be written, and without --resume that it has no
    /// checkpoint. With --resume rank 0 opens the file; if there is none yet, the log says so and
    /// the run starts from the beginning. Settings of the file on which parameters' values depend
    /// must equal `options`. Throws OptionError, DataError or EnvironmentError on all ranks.
    Checkpoint(const TrainingOptions& options, std::int64_t samples, const nn::Model& model,
               comm::Communicator& control);

    /// Steps that the resumed run had completed; 0 for a new run.
    std::int64_t completed_steps() const { return resumed_from_; }

    /// Collective, before the first step. Puts model, optimizer, scaler and random generators where
    /// the stored run left them, if there is one. Throws DataError if they do not fit.
    void restore(nn::Model& model, TrainingSteps& steps);

    /// Collective. Returns each rank's own states, such as random generators.
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
