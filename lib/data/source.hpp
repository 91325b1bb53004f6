// Samples by number, wherever they are: in memory, on disk, made on the fly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/element.hpp"

namespace ranklab::data {

using base::Element;

/// A dense array, rows last.
struct Field {
    Element element = Element::f32;
    std::vector<std::int64_t> sizes;  ///< [] is one value
    std::int64_t elements() const;
    std::size_t bytes() const { return elements() * size_of(element); }
    bool operator==(const Field&) const = default;
};

/// Images: input u8 [channels, height, width], target i64 [], a class. Volumes: input and target f32
/// [channels, depth, height, width].
struct SampleLayout {
    Field input;
    Field target;
    bool operator==(const SampleLayout&) const = default;
};

/// Which sample, and the number that all its randomness (place of a crop, rotation) follows from. Both come
/// from the plan of the run, never from the thread or the moment: a run is the same at any worker count.
struct Draw {
    std::int64_t index = 0;
    std::uint64_t random = 0;
    bool operator==(const Draw&) const = default;
};

/// A number for the sample at `position` (over all ranks) of an epoch: other epochs, positions, seeds give
/// others.
std::uint64_t random_of(std::uint64_t seed, std::int64_t epoch, std::int64_t position);

/// Seconds spent on samples by whoever read them.
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
    /// Writes the sample's layout().input.bytes() and layout().target.bytes(), and adds to `times`. Several
    /// threads at once. DataError for what cannot be read.
    virtual void read(const Draw& draw, std::byte* input, std::byte* target, ReadTimes& times) const = 0;
};

}  // namespace ranklab::data
