// Random numbers that are the same on every machine and in every thread.
#pragma once

#include <cstdint>

#include "base/cast.hpp"

namespace ranklab::data {

/// splitmix64's finaliser: a bijection of 64-bit numbers.
constexpr std::uint64_t mix64(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
}
/// What it adds from one number to the next: 2^64 divided by the golden ratio.
inline constexpr std::uint64_t kGolden64 = 0x9e3779b97f4a7c15ULL;

/// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014): a stream for one
/// sample, cheap to begin.
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

}  // namespace ranklab::data
