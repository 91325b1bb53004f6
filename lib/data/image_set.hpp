// A labelled image set in memory.
#pragma once

#include <cstdint>
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
    std::int64_t size() const { return std::ssize(labels); }
};

struct ImageSets {
    ImageSet train;
    ImageSet test;
    std::string origin;  ///< where it was read from, for the run's context
};

}  // namespace ranklab::data
