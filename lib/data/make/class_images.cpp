#include "data/make/class_images.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/numbers.hpp"
#include "data/formats/cifar100.hpp"
#include "data/make/counter_random.hpp"

namespace ranklab::data {
namespace {

// Streams of the generator; a split is added to those of samples.
constexpr std::uint64_t kGroupStream = 100;
constexpr std::uint64_t kClassStream = 101;
constexpr std::uint64_t kStrokeStream = 102;
constexpr std::uint64_t kLabelStream = 110;
constexpr std::uint64_t kColourStream = 120;
constexpr std::uint64_t kGreyStream = 130;
constexpr std::uint64_t kBlocksASample = 1U << 12U;  // more than an image takes

CounterRandom samples(std::uint64_t seed, std::uint64_t stream, Split split) {
    return {seed, stream + static_cast<std::uint64_t>(split)};
}

// Noise of mean 0, between -255 and 255, two random bytes a pixel.
class Noise {
  public:
    Noise(const CounterRandom& random, std::uint64_t first_block)
        : random_(random), next_(first_block) {}
    float draw() {
        if (left_ == 0) {
            words_ = random_.block(next_++);
            left_ = 8;
        }
        --left_;
        const std::uint32_t bits = words_[left_ / 2] >> (left_ % 2 * 16U);
        return static_cast<float>(static_cast<int>(bits & 0xFFU) +
                                  static_cast<int>(bits >> 8U & 0xFFU) - 255);
    }

  private:
    const CounterRandom& random_;
    std::uint64_t next_;
    Words words_{};
    unsigned left_ = 0;
};

struct Manner {
    std::int64_t across;
    std::int64_t down;
    float contrast;
    float brightness;
};

Manner manner_of(const CounterRandom& random, std::uint64_t block, std::int64_t most) {
    const Words words = random.block(block);
    const auto shift = [&](std::uint32_t word) {
        return static_cast<std::int64_t>(word % static_cast<std::uint32_t>(2 * most + 1)) - most;
    };
    const auto unit = [](std::uint32_t word) { return static_cast<float>(word >> 8U) * 0x1p-24F; };
    return {shift(words[0]), shift(words[1]), 0.8F + 0.4F * unit(words[2]),
            20 * unit(words[3]) - 10};
}

std::uint8_t pixel(float value) {
    return static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
}

// A wave of one to three cycles each way, so that it goes on over the edge; each colour has its own
// height.
void add_wave(const CounterRandom& random, std::uint64_t wave, float height,
              std::span<float> pattern) {
    const auto draw = [&](std::uint64_t i) { return random.uniform(wave * 8 + i); };
    const double cycles_x = base::real(1 + static_cast<int>(3 * draw(0)));
    const double cycles_y = base::real(static_cast<int>(7 * draw(1)) - 3);
    constexpr std::int64_t kEdge = ColourImages::kEdge;
    for (std::int64_t c = 0; c < 3; ++c) {
        const double tall = height * (2 * draw(3 + static_cast<std::uint64_t>(c)) - 1);
        for (std::int64_t y = 0; y < kEdge; ++y)
            for (std::int64_t x = 0; x < kEdge; ++x) {
                const double turns =
                    (cycles_x * base::real(x) + cycles_y * base::real(y)) / kEdge + draw(2);
                pattern[(c * kEdge + y) * kEdge + x] +=
                    static_cast<float>(tall * std::cos(2 * std::numbers::pi * turns));
            }
    }
}

struct Point {
    double x;
    double y;
};

double distance_to_segment(const Point& p, const Point& a, const Point& b) {
    const double dx = b.x - a.x;
    const double dy = b.y - a.y;
    const double along = ((p.x - a.x) * dx + (p.y - a.y) * dy) / std::max(dx * dx + dy * dy, 1e-9);
    const double t = std::clamp(along, 0.0, 1.0);
    return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

}  // namespace

std::int64_t class_of_sample(std::uint64_t seed, Split split, std::int64_t sample,
                             std::int64_t classes) {
    // Within a group: multiply by a number without a common divisor with 10 or 100, and shift.
    constexpr std::array<std::int64_t, 8> kFactors{1, 3, 7, 9, 11, 13, 17, 19};
    const std::uint64_t bits = samples(seed, kLabelStream, split).bits(sample / classes);
    const std::int64_t factor = kFactors[bits % kFactors.size()];
    const std::int64_t shift = bits / kFactors.size() % static_cast<std::uint64_t>(classes);
    return (factor * (sample % classes) + shift) % classes;
}

ColourImages::ColourImages(std::uint64_t seed) : seed_(seed), patterns_(kClasses * kBytes) {
    const CounterRandom groups(seed, kGroupStream);
    const CounterRandom classes(seed, kClassStream);
    constexpr std::uint64_t kWaves = 3;
    for (std::uint64_t label = 0; label < kClasses; ++label) {
        const std::uint64_t group = kCifar100Coarse[label];
        const std::span<float> pattern(patterns_.data() + label * kBytes, kBytes);
        for (std::size_t c = 0; c < 3; ++c)
            std::fill_n(pattern.begin() + (c * kEdge * kEdge), kEdge * kEdge,
                        static_cast<float>(70 + 110 * groups.uniform(group * 1000 + 900 + c)));
        add_wave(groups, group * 100, 70, pattern);
        for (std::uint64_t w = 0; w < kWaves; ++w) add_wave(classes, label * 100 + w, 60, pattern);
    }
}

void ColourImages::draw(Split split, std::int64_t sample, std::int64_t label,
                        std::span<std::uint8_t> out) const {
    const auto random = samples(seed_, kColourStream, split);
    const std::uint64_t first = static_cast<std::uint64_t>(sample) * kBlocksASample;
    const Manner manner = manner_of(random, first, 3);
    Noise noise(random, first + 1);
    const float* pattern = patterns_.data() + static_cast<std::size_t>(label) * kBytes;
    constexpr float kNoise = 0.15F;
    std::size_t at = 0;
    for (std::int64_t c = 0; c < 3; ++c)
        for (std::int64_t y = 0; y < kEdge; ++y)
            for (std::int64_t x = 0; x < kEdge; ++x) {
                const std::int64_t from_y = (y + manner.down + kEdge) % kEdge;
                const std::int64_t from_x = (x + manner.across + kEdge) % kEdge;
                const float clean = pattern[(c * kEdge + from_y) * kEdge + from_x];
                out[at++] = pixel(128 + manner.contrast * (clean - 128) + manner.brightness +
                                  kNoise * noise.draw());
            }
}

StrokeImages::StrokeImages(std::uint64_t seed) : seed_(seed), patterns_(kClasses * kBytes) {
    const CounterRandom random(seed, kStrokeStream);
    constexpr std::uint64_t kCorners = 5;
    constexpr double kThickness = 1.3;
    for (std::uint64_t label = 0; label < kClasses; ++label) {
        std::array<Point, kCorners> corners{};
        for (std::uint64_t i = 0; i < kCorners; ++i)
            corners[i] = {5 + 18 * random.uniform(label * 100 + 2 * i),
                          5 + 18 * random.uniform(label * 100 + 2 * i + 1)};
        for (std::int64_t y = 0; y < kEdge; ++y)
            for (std::int64_t x = 0; x < kEdge; ++x) {
                double nearest = kEdge;
                for (std::size_t i = 0; i + 1 < kCorners; ++i)
                    nearest = std::min(nearest, distance_to_segment({base::real(x), base::real(y)},
                                                                    corners[i], corners[i + 1]));
                const double ink = std::exp(-nearest * nearest / (2 * kThickness * kThickness));
                patterns_[label * kBytes + static_cast<std::size_t>(y * kEdge + x)] =
                    static_cast<float>(250 * ink);
            }
    }
}

void StrokeImages::draw(Split split, std::int64_t sample, std::int64_t label,
                        std::span<std::uint8_t> out) const {
    const auto random = samples(seed_, kGreyStream, split);
    const std::uint64_t first = static_cast<std::uint64_t>(sample) * kBlocksASample;
    const Manner manner = manner_of(random, first, 2);
    Noise noise(random, first + 1);
    const float* pattern = patterns_.data() + static_cast<std::size_t>(label) * kBytes;
    std::size_t at = 0;
    for (std::int64_t y = 0; y < kEdge; ++y)
        for (std::int64_t x = 0; x < kEdge; ++x) {
            const std::int64_t from_y = y + manner.down;
            const std::int64_t from_x = x + manner.across;
            const bool inside = from_y >= 0 && from_y < kEdge && from_x >= 0 && from_x < kEdge;
            const float clean = inside ? pattern[from_y * kEdge + from_x] : 0.0F;
            constexpr float kNoise = 0.2F;
            // Paper stays black: noise follows the ink.
            out[at++] = pixel(clean * (manner.contrast + kNoise / 128 * noise.draw()));
        }
}

}  // namespace ranklab::data
