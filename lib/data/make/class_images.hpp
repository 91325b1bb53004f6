// Synthetic images that a small network can learn: each class has a smooth pattern, and a sample is
// its class's pattern, shifted and with noise. A sample follows from seed, split and index alone.
#pragma once

#include <cstdint>
#include <vector>

namespace ranklab::data {

enum class Split : std::uint64_t { train = 0, test = 1 };

/// The images of one synthetic set.
class ClassImages {
  public:
    /// Colour images like CIFAR-100's: 100 classes, 3 planes of 32 x 32. A class has the colours
    /// and waves of its coarse label, and waves of its own. A sample is shifted cyclically by up to
    /// 3 pixels each way, and differs in contrast and brightness.
    static ClassImages colour(std::uint64_t seed);
    /// Grey images like MNIST's: 10 classes of 28 x 28, each a bright stroke on black. A sample is
    /// shifted by up to 2 pixels each way and differs in contrast.
    static ClassImages strokes(std::uint64_t seed);

    std::int64_t classes() const { return classes_; }
    std::int64_t edge() const { return edge_; }
    std::size_t bytes() const { return channels_ * edge_ * edge_; }  ///< of an image

    /// Each group of classes() consecutive samples holds every class once, in its own order.
    std::int64_t class_of(Split split, std::int64_t sample) const;
    /// Writes the sample of class `label` to bytes() bytes: channels, rows, columns.
    void draw(Split split, std::int64_t sample, std::int64_t label, std::uint8_t* out) const;

  private:
    ClassImages(std::uint64_t seed, std::int64_t classes, std::int64_t channels, std::int64_t edge)
        : seed_(seed),
          classes_(classes),
          channels_(channels),
          edge_(edge),
          patterns_(classes * channels * edge * edge) {}
    bool is_colour() const { return channels_ == 3; }
    float* pattern_of(std::int64_t label) { return &patterns_[label * std::int64_t(bytes())]; }
    /// The pattern at a pixel, which may lie outside.
    float pattern_at(std::int64_t plane, std::int64_t y, std::int64_t x) const;

    std::uint64_t seed_;
    std::int64_t classes_, channels_, edge_;
    std::vector<float> patterns_;  // [class][channel][edge][edge], in 0 .. 255
};

}  // namespace ranklab::data
