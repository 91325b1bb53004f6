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

// Streams of the generator; those of samples are of the training split, + 1 for the test split.
constexpr std::uint64_t kGroupStream = 100;
constexpr std::uint64_t kClassStream = 101;
constexpr std::uint64_t kStrokeStream = 102;
constexpr std::uint64_t kLabelStream = 110;
constexpr std::uint64_t kColourStream = 120;
constexpr std::uint64_t kGreyStream = 130;
constexpr std::int64_t kColourEdge = 32;
constexpr std::uint64_t kBlocksASample = 1U << 12U;  // more than an image needs

CounterRandom samples(std::uint64_t seed, std::uint64_t stream, Split split) {
    return {seed, stream + static_cast<std::uint64_t>(split)};
}

// Noise of mean 0 in [-255, 255], the sum of two random bytes per pixel.
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

// Adds a wave with whole numbers of cycles, so that it is periodic; each colour has its own height.
void add_wave(const CounterRandom& random, std::uint64_t wave, float height, float* pattern) {
    const auto draw = [&](std::uint64_t i) { return random.uniform(wave * 8 + i); };
    const double cycles_x = base::real(1 + static_cast<int>(3 * draw(0)));
    const double cycles_y = base::real(static_cast<int>(7 * draw(1)) - 3);
    for (std::int64_t c = 0; c < 3; ++c) {
        const double tall = height * (2 * draw(3 + static_cast<std::uint64_t>(c)) - 1);
        for (std::int64_t y = 0; y < kColourEdge; ++y)
            for (std::int64_t x = 0; x < kColourEdge; ++x) {
                const double turns =
                    (cycles_x * base::real(x) + cycles_y * base::real(y)) / kColourEdge + draw(2);
                pattern[(c * kColourEdge + y) * kColourEdge + x] +=
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

std::int64_t ClassImages::class_of(Split split, std::int64_t sample) const {
    // A permutation of the group: multiplication by a number coprime to 10, then a shift.
    constexpr std::array<std::int64_t, 8> kFactors{1, 3, 7, 9, 11, 13, 17, 19};
    const std::uint64_t bits = samples(seed_, kLabelStream, split).bits(sample / classes_);
    const std::int64_t factor = kFactors[bits % kFactors.size()];
    const std::int64_t shift = bits / kFactors.size() % static_cast<std::uint64_t>(classes_);
    return (factor * (sample % classes_) + shift) % classes_;
}

ClassImages ClassImages::colour(std::uint64_t seed) {
    ClassImages images(seed, kCifar100Classes, 3, kColourEdge);
    const CounterRandom groups(seed, kGroupStream);
    const CounterRandom classes(seed, kClassStream);
    constexpr std::uint64_t kWaves = 3;
    constexpr std::size_t kPlane = kColourEdge * kColourEdge;
    for (std::uint64_t label = 0; label < kCifar100Classes; ++label) {
        const std::uint64_t group = kCifar100Coarse[label];
        float* const pattern = images.pattern_of(label);
        for (std::size_t c = 0; c < 3; ++c)
            std::fill_n(pattern + c * kPlane, kPlane,
                        static_cast<float>(70 + 110 * groups.uniform(group * 1000 + 900 + c)));
        add_wave(groups, group * 100, 70, pattern);
        for (std::uint64_t w = 0; w < kWaves; ++w) add_wave(classes, label * 100 + w, 60, pattern);
    }
    return images;
}

ClassImages ClassImages::strokes(std::uint64_t seed) {
    ClassImages images(seed, 10, 1, 28);
    const CounterRandom random(seed, kStrokeStream);
    constexpr std::uint64_t kCorners = 5;
    constexpr double kThickness = 1.3;
    for (std::uint64_t label = 0; label < 10; ++label) {
        std::array<Point, kCorners> corners{};
        for (std::uint64_t i = 0; i < kCorners; ++i)
            corners[i] = {5 + 18 * random.uniform(label * 100 + 2 * i),
                          5 + 18 * random.uniform(label * 100 + 2 * i + 1)};
        float* pattern = images.pattern_of(label);
        for (std::int64_t y = 0; y < images.edge_; ++y)
            for (std::int64_t x = 0; x < images.edge_; ++x) {
                double nearest = base::real(images.edge_);
                for (std::size_t i = 0; i + 1 < kCorners; ++i)
                    nearest = std::min(nearest, distance_to_segment({base::real(x), base::real(y)},
                                                                    corners[i], corners[i + 1]));
                const double ink = std::exp(-nearest * nearest / (2 * kThickness * kThickness));
                *pattern++ = static_cast<float>(250 * ink);
            }
    }
    return images;
}

float ClassImages::pattern_at(std::int64_t plane, std::int64_t y, std::int64_t x) const {
    if (is_colour()) {
        y = (y + edge_) % edge_;
        x = (x + edge_) % edge_;
    }
    const bool inside = y >= 0 && y < edge_ && x >= 0 && x < edge_;
    return inside ? patterns_[(plane * edge_ + y) * edge_ + x] : 0.0F;
}

void ClassImages::draw(Split split, std::int64_t sample, std::int64_t label,
                       std::uint8_t* out) const {
    const auto random = samples(seed_, is_colour() ? kColourStream : kGreyStream, split);
    const std::uint64_t first = static_cast<std::uint64_t>(sample) * kBlocksASample;
    const Manner manner = manner_of(random, first, is_colour() ? 3 : 2);
    Noise noise(random, first + 1);
    for (std::int64_t c = 0; c < channels_; ++c)
        for (std::int64_t y = 0; y < edge_; ++y)
            for (std::int64_t x = 0; x < edge_; ++x) {
                const float clean =
                    pattern_at(label * channels_ + c, y + manner.down, x + manner.across);
                // On grey images noise is proportional to the ink: the background stays black.
                *out++ = is_colour() ? pixel(128 + manner.contrast * (clean - 128) +
                                             manner.brightness + 0.15F * noise.draw())
                                     : pixel(clean * (manner.contrast + 0.2F / 128 * noise.draw()));
            }
}

}  // namespace ranklab::data
