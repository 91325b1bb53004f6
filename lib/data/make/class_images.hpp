// Images that a small network can distinguish: each class has a smooth pattern, and a sample is its
// class's pattern, shifted and with noise. A sample is a function of seed, split and number alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ranklab::data {

/// The training samples, or the test samples: other samples of the same classes.
enum class Split : std::uint64_t { train = 0, test = 1 };

/// The class of a sample: every `classes` samples in a row hold each class once, in an order of
/// their own.
std::int64_t class_of_sample(std::uint64_t seed, Split split, std::int64_t sample,
                             std::int64_t classes);

/// Colour images as in CIFAR-100: 100 classes, 3 planes of 32 x 32. A class has the colours and
/// waves of its group (its coarse label) and waves of its own.
class ColourImages {
  public:
    static constexpr std::int64_t kClasses = 100;
    static constexpr std::int64_t kEdge = 32;
    static constexpr std::size_t kBytes = 3 * 32 * 32;

    explicit ColourImages(std::uint64_t seed);
    /// Shifted by up to 3 pixels each way around the edge, of its own contrast and brightness.
    void draw(Split split, std::int64_t sample, std::int64_t label,
              std::span<std::uint8_t> out) const;

  private:
    std::uint64_t seed_;
    std::vector<float> patterns_;  // [class][3][32][32], in 0 .. 255
};

/// Grey images as in MNIST: 10 classes of 28 x 28, each one bright stroke on black.
class StrokeImages {
  public:
    static constexpr std::int64_t kClasses = 10;
    static constexpr std::int64_t kEdge = 28;
    static constexpr std::size_t kBytes = 28 * 28;

    explicit StrokeImages(std::uint64_t seed);
    /// Shifted by up to 2 pixels each way.
    void draw(Split split, std::int64_t sample, std::int64_t label,
              std::span<std::uint8_t> out) const;

  private:
    std::uint64_t seed_;
    std::vector<float> patterns_;  // [class][28][28]
};

}  // namespace ranklab::data
