// The catalogue of data sets, and the request that a model makes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "data/source.hpp"

namespace ranklab::data {

/// How crops of volumes are read and rotated.
struct VolumeRequest {
    /// Keeps the whole file in memory; otherwise reads crops from the disk.
    bool in_memory = false;
    bool rotate = true;           ///< rotates input and target by one of the cube's 24 rotations
    bool rotate_vectors = false;  ///< rotates velocity components, too
};

struct DataRequest {
    /// The model's input: [channels, height, width] or [channels, depth, height, width].
    std::vector<std::int64_t> input{};
    std::vector<std::int64_t> target{};  ///< empty: a class
    std::int64_t classes = 0;
    /// Set for a user's own network. `input` and `target` then hold the sizes of own_inputs and
    /// own_target, and i64 numbers are below `classes`.
    std::vector<Field> own_inputs{};
    Field own_target{};
    std::vector<std::string> input_files{};  ///< one per entry of own_inputs
    std::string target_file{};
    std::string directory{};  ///< --data-dir; "": RANKLAB_DATA and the set's usual places
    std::uint64_t seed = 1;
    std::int64_t train_samples = 0;  ///< 0: all of the set's
    std::int64_t test_samples = 0;
    bool evaluates = true;  ///< false: the test set may be empty
    VolumeRequest volume{};

    bool is_own() const { return !own_inputs.empty(); }
    /// True if the model takes labelled images.
    bool is_image() const {
        return input.size() == 3 && target.empty() &&
               (!is_own() || (own_inputs.size() == 1 && own_target.element == Element::i64));
    }
    ImageShape image_shape() const { return {input.at(0), input.at(1), input.at(2)}; }
};

struct DataSet {
    std::shared_ptr<const Source> train;
    std::shared_ptr<const Source> test;
    std::string origin;  ///< files or folder; stored with the run
};

struct SourceEntry {
    std::string name;
    std::string summary;
    /// Normalisation of pixels in [0, 1], as published: one value per channel, or one for all.
    std::vector<double> pixel_mean{0.0};
    std::vector<double> pixel_std{1.0};
    bool reads_in_turn = false;  ///< only one thread of a process reads from the file at a time
    bool own_files = false;      ///< reads the files that --inputs and --targets name
    /// Collective. Throws on all ranks: DataError for wrong data, OptionError if the set does not
    /// suit the model.
    std::function<DataSet(const DataRequest&, comm::Communicator& control)> open;
};

/// Generated: all data sets, in CMake's order.
std::vector<SourceEntry> sources();

}  // namespace ranklab::data
