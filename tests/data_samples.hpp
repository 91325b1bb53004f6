// A source's samples as plain vectors.
#pragma once

#include <cstring>
#include <vector>

#include "data/source.hpp"

namespace ranklab::testing {

struct ImageSample {
    std::vector<std::uint8_t> pixels;
    std::int64_t label = -1;
    bool operator==(const ImageSample&) const = default;
};

inline ImageSample image_of(const data::Source& source, std::int64_t index,
                            std::uint64_t random = 0) {
    ImageSample sample{std::vector<std::uint8_t>(source.layout().input.bytes()), -1};
    data::ReadTimes times;
    source.read({index, random}, reinterpret_cast<std::byte*>(sample.pixels.data()),
                reinterpret_cast<std::byte*>(&sample.label), times);
    return sample;
}

inline std::vector<ImageSample> images_of(const data::Source& source) {
    std::vector<ImageSample> samples;
    for (std::int64_t i = 0; i < source.size(); ++i) samples.push_back(image_of(source, i));
    return samples;
}

}  // namespace ranklab::testing
