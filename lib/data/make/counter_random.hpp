// Random numbers by their place: number i of a stream is a function of (seed, stream, i) alone, so
// ranks that each make a part make together what one rank would.
//
// Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
// (SC11): the key is the seed, the counter (i, stream), 64 bits each, low words first.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace ranklab::data {

using Words = std::array<std::uint32_t, 4>;

/// The block cipher itself; its published test vectors are in the unit test.
Words philox(const Words& counter, const std::array<std::uint32_t, 2>& key);

class CounterRandom {
  public:
    CounterRandom(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

    /// Block i: 128 random bits.
    Words block(std::uint64_t i) const;
    /// In [0, 1), from 53 bits of block i.
    double uniform(std::uint64_t i) const;
    /// 64 random bits of block i.
    std::uint64_t bits(std::uint64_t i) const;
    /// Makes normal numbers first, first + 1, ... of mean 0 and variance 1 (Box and Muller): block
    /// j has numbers 2j and 2j + 1.
    void normals(std::uint64_t first, std::span<double> out) const;

  private:
    std::uint64_t seed_;
    std::uint64_t stream_;
};

}  // namespace ranklab::data
