// Synthetic images that a small network can learn: each class has a pattern of coarse blocks, and a
// sample is its class's pattern with noise.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "data/source.hpp"

namespace ranklab::data {

class ClassImages {
  public:
    /// A seed gives the same patterns everywhere: the C++ standard fixes mt19937_64's numbers. It
    /// does not fix the numbers of distributions, so this class uses none.
    ClassImages(const ImageShape& shape, std::int64_t classes, std::uint64_t seed)
        : pixels_(shape.bytes()) {
        constexpr std::int64_t kBlock = 4;
        const std::int64_t across = (shape.width + kBlock - 1) / kBlock;
        const std::int64_t down = (shape.height + kBlock - 1) / kBlock;
        std::mt19937_64 random(seed);
        std::vector<std::uint8_t> coarse(shape.channels * across * down);
        for (std::int64_t c = 0; c < classes; ++c) {
            for (auto& value : coarse) value = static_cast<std::uint8_t>(random() % 200);
            for (std::int64_t line = 0; line < shape.channels * shape.height; ++line) {
                const auto [channel, y] = std::div(line, shape.height);
                const auto* const blocks = &coarse[(channel * down + y / kBlock) * across];
                for (std::int64_t x = 0; x < shape.width; ++x)
                    patterns_.push_back(blocks[x / kBlock]);
            }
        }
    }

    /// Writes an image of class `label`. Each call of `random` must return 64 random bits.
    void draw(std::int64_t label, auto&& random, std::uint8_t* out) const {
        const auto* const pattern = &patterns_[static_cast<std::size_t>(label) * pixels_];
        std::uint64_t bits = 0;
        for (std::size_t p = 0; p < pixels_; ++p) {
            if (p % 8 == 0) bits = random();
            const int noise = static_cast<int>(bits >> (p % 8 * 8) & 0xFFU) / 2 - 64;
            out[p] = static_cast<std::uint8_t>(std::clamp(pattern[p] + noise, 0, 255));
        }
    }

  private:
    std::size_t pixels_;
    std::vector<std::uint8_t> patterns_;  // [classes][channels, height, width]
};

}  // namespace ranklab::data
