// Samples by number, wherever they are: in memory, on disk, made on the fly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
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
/// The step from one number to the next: 2^64 divided by the golden ratio.
inline constexpr std::uint64_t kGolden64 = 0x9e3779b97f4a7c15ULL;

/// A random stream for one sample, cheap to begin: splitmix64 (Steele, Lea, Flood: Fast splittable
/// pseudorandom number generators, 2014).
class RandomStream {
  public:
    explicit RandomStream(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() { return mix64(state_ += kGolden64); }
    /// Uniform in [0, n), n >= 1: the high half of a product, off by less than n / 2^64.
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

/// Images: input u8 [channels, height, width], target i64 [], a class. Volumes: input and target
/// f32 [channels, depth, height, width]. For a user's network: input f32 or i64, or several packed;
/// target f32, or i64 classes.
struct SampleLayout {
    Field input;
    Field target;
    bool operator==(const SampleLayout&) const = default;
};

/// A sample and the number from which all its randomness (place of a crop, rotation) follows. Both
/// come from the plan of the run, never from the thread or the moment: a run is the same at any
/// worker count.
struct Draw {
    std::int64_t index = 0;
    std::uint64_t random = 0;
    bool operator==(const Draw&) const = default;
};

/// A random number for the sample at `position` (over all ranks) of an epoch; it differs by epoch,
/// position and seed.
std::uint64_t random_of(std::uint64_t seed, std::int64_t epoch, std::int64_t position);

/// Seconds that the reading threads spent on samples.
struct ReadTimes {
    double read = 0;     ///< from the disk or the memory that holds them
    double decode = 0;   ///< made what the model takes: resized, converted
    double augment = 0;  ///< rotated
    ReadTimes& operator+=(const ReadTimes& other);
};

class Source {
  public:
    virtual ~Source() = default;
    virtual const SampleLayout& layout() const = 0;
    virtual std::int64_t size() const = 0;
    /// Writes the sample's layout().input.bytes() and layout().target.bytes(), and adds to `times`.
    /// Several threads may call it at once. DataError for data that cannot be read.
    virtual void read(const Draw& draw, std::byte* input, std::byte* target,
                      ReadTimes& times) const = 0;
};

/// Those samples, each with that much CPU time more: as a costly decoder would take.
std::shared_ptr<const Source> costly(std::shared_ptr<const Source> source, std::int64_t cost_us);

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
