// The catalogue of data sets: what a model asks for, and who has it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "data/source.hpp"

namespace ranklab::data {

/// How volumes are read and turned.
struct VolumeRequest {
    /// Whether each rank holds the whole file in memory; else it reads crops from the disk.
    bool in_memory = false;
    bool rotate = true;           ///< one of the cube's 24 proper rotations, input and target alike
    bool rotate_vectors = false;  ///< the velocities' components with it
};

/// A request for a data set: the model's shape and classes, and the folder.
struct DataRequest {
    /// The shape [channels, height, width] or [channels, depth, height, width].
    std::vector<std::int64_t> input{};
    std::vector<std::int64_t> target{};  ///< [] for a class
    std::int64_t classes = 0;
    /// A user's network has these, i64 below `classes`; `input` and `target` are their sizes.
    std::vector<Field> own_inputs{};
    Field own_target{};
    std::vector<std::string> input_files{};  ///< one for each of own_inputs
    std::string target_file{};
    std::string directory{};  ///< --data-dir; "" to look in RANKLAB_DATA and the usual places
    std::uint64_t seed = 1;
    std::int64_t train_samples = 0;  ///< 0: as many as there are, or as the set makes
    std::int64_t test_samples = 0;
    bool evaluates = true;  ///< else the test set may be empty
    VolumeRequest volume{};

    bool is_own() const { return !own_inputs.empty(); }
    /// [channels, height, width] of one class, as labelled images are.
    bool is_image() const {
        return input.size() == 3 && target.empty() &&
               (!is_own() || (own_inputs.size() == 1 && own_target.element == Element::i64));
    }
    ImageShape image_shape() const { return {input.at(0), input.at(1), input.at(2)}; }
};

/// The folder to search: `directory`, else that of RANKLAB_DATA; "" where neither is given.
std::string data_root(const std::string& directory);

struct DataSet {
    std::shared_ptr<const Source> train;
    std::shared_ptr<const Source> test;
    std::string origin;  ///< where it was read from, for the run's context
};

struct SourceEntry {
    std::string name;
    std::string summary;
    /// The published workload's normalisation of pixels in [0, 1]: one value per channel, or one
    /// for all.
    std::vector<double> pixel_mean{0.0};
    std::vector<double> pixel_std{1.0};
    bool reads_in_turn = false;  ///< one thread of a process at a time reads from the file
    bool own_files = false;      ///< reads the files that --inputs and --targets name
    /// Collective. Throws on all ranks: DataError with a sentence for wrong data, OptionError where
    /// the set does not suit the model.
    std::function<DataSet(const DataRequest&, comm::Communicator& control)> open;
};

/// Generated: all data sets, in CMake's order.
std::vector<SourceEntry> sources();

}  // namespace ranklab::data
