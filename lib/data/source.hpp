// Samples by index: from memory, from disk or made on the fly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/element.hpp"
#include "base/numbers.hpp"

namespace ranklab::data {

/// The finaliser of splitmix64: a bijection of 64-bit numbers.
constexpr std::uint64_t mix64(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
}
/// splitmix64's increment: 2^64 divided by the golden ratio.
inline constexpr std::uint64_t kGolden64 = 0x9e3779b97f4a7c15ULL;

/// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014), which is
/// cheap to seed for each sample.
class RandomStream {
  public:
    explicit RandomStream(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() { return mix64(state_ += kGolden64); }
    /// Uniform in [0, n) for n >= 1, with a bias below n / 2^64.
    std::uint64_t below(std::uint64_t n) {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>(Wide{next()} * n >> 64U);
    }
    /// Uniform in (0, 1].
    double uniform() { return base::real((next() >> 11U) + 1) * 0x1.0p-53; }

  private:
    std::uint64_t state_;
};

using base::Element;
using base::Field;

/// Images: input u8 [channels, height, width], target i64 [], the class. Volumes: input and target
/// f32 [channels, depth, height, width]. A user's network: input f32, f64, i64 or several packed
/// fields, target f32, f64 or i64 classes.
struct SampleLayout {
    Field input;
    Field target;
    bool operator==(const SampleLayout&) const = default;
};

/// A sample's index, and the number that fixes its random choices (place and rotation of a crop).
/// The run's plan makes Draws, not a thread, so that samples are equal at any worker count.
struct Draw {
    std::int64_t index = 0;
    std::uint64_t random = 0;
    bool operator==(const Draw&) const = default;
};

/// A random number for the sample at `position` of an epoch, counted over all ranks.
std::uint64_t random_of(std::uint64_t seed, std::int64_t epoch, std::int64_t position);

/// Seconds, summed over the reading threads.
struct ReadTimes {
    double read = 0;     ///< from disk or memory
    double decode = 0;   ///< resizing, conversion
    double augment = 0;  ///< rotation
    ReadTimes& operator+=(const ReadTimes& other);
};

/// The folder to search for data: `directory`, else the value of RANKLAB_DATA, else "".
std::string data_root(const std::string& directory);

class Source {
  public:
    Source(SampleLayout layout, std::int64_t size) : layout_(std::move(layout)), size_(size) {}
    virtual ~Source() = default;
    const SampleLayout& layout() const { return layout_; }
    std::int64_t size() const { return size_; }
    /// Writes an input and a target of layout()'s sizes, and adds to `times`. Thread-safe.
    /// Throws DataError if the data cannot be read.
    virtual void read(const Draw& draw, std::byte* input, std::byte* target,
                      ReadTimes& times) const = 0;

  private:
    SampleLayout layout_;
    std::int64_t size_;
};

/// Returns `source` with `cost_us` more CPU time per sample, to imitate an expensive decoder.
std::shared_ptr<const Source> costly(std::shared_ptr<const Source> source, std::int64_t cost_us);

struct ImageShape {
    std::int64_t channels = 1;
    std::int64_t height = 1;
    std::int64_t width = 1;
    std::int64_t bytes() const { return channels * height * width; }
    bool operator==(const ImageShape&) const = default;
};

/// `images` holds size() * shape.bytes() bytes, or none if no image is read. Labels < `classes`.
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
    std::string origin;  ///< files or folder; stored with the run
};

}  // namespace ranklab::data
