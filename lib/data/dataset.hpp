// A labelled image set in memory, and where it comes from.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ranklab::data {

/// Shape of one sample: channels x height x width bytes.
struct ImageShape {
    std::int64_t channels = 1;
    std::int64_t height = 1;
    std::int64_t width = 1;
    std::int64_t bytes() const { return channels * height * width; }
    bool operator==(const ImageShape&) const = default;
};

/// images.size() == labels.size() * shape.bytes(); label values in [0, classes).
struct ImageSet {
    ImageShape shape;
    std::int64_t classes = 0;
    std::vector<std::uint8_t> images;
    std::vector<std::uint8_t> labels;
    std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
};

struct DataSets {
    ImageSet train;
    ImageSet test;
    std::string origin;  ///< where it was read from, for the run's context
};

/// What a data source is asked for: the model's shape and classes, and where to look.
struct DataRequest {
    ImageShape shape;
    std::int64_t classes = 10;
    std::string directory;  ///< --data-dir; "" to look in RANKLAB_DATA and the usual places
    std::uint64_t seed = 1;
    std::int64_t synthetic_train = 10000;
    std::int64_t synthetic_test = 2000;
};

struct SourceEntry {
    std::string name;
    std::string summary;
    double pixel_mean = 0;  ///< of pixels in [0, 1]: the normalisation of the published workload
    double pixel_std = 1;
    /// Reads it all. Throws DataError with a sentence for anything that is not right.
    std::function<DataSets(const DataRequest&)> load;
};

/// Generated: all sources, in CMake's order.
std::vector<SourceEntry> sources();

}  // namespace ranklab::data
