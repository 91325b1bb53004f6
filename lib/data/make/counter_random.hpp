// Random numbers by place: number i of a stream follows from (seed, stream, i) alone, so that ranks
// which each make a part make the bytes that one rank would.
//
// Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
// (SC11): the key is the seed, the counter (i, stream), 64 bits each, low words first.
#pragma once

#include <array>
#include <cstdint>

#include "base/numbers.hpp"

namespace ranklab::data {

using Words = std::array<std::uint32_t, 4>;

/// The block cipher. The unit test has its published test vectors.
constexpr Words philox(Words c, std::array<std::uint32_t, 2> key) {
    constexpr int kRounds = 10;
    for (int round = 0; round < kRounds; ++round) {
        const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * c[0];
        const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * c[2];
        c = {static_cast<std::uint32_t>(p1 >> 32U) ^ c[1] ^ key[0], static_cast<std::uint32_t>(p1),
             static_cast<std::uint32_t>(p0 >> 32U) ^ c[3] ^ key[1], static_cast<std::uint32_t>(p0)};
        key[0] += 0x9E3779B9U;
        key[1] += 0xBB67AE85U;
    }
    return c;
}

class CounterRandom {
  public:
    CounterRandom(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

    /// Block i: 128 random bits.
    Words block(std::uint64_t i) const {
        const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
        return philox({low(i), low(i >> 32U), low(stream_), low(stream_ >> 32U)},
                      {low(seed_), low(seed_ >> 32U)});
    }
    /// 64 random bits of block i.
    std::uint64_t bits(std::uint64_t i) const {
        const Words words = block(i);
        return std::uint64_t{words[0]} << 32U | words[1];
    }
    /// In [0, 1), from 53 bits of block i.
    double uniform(std::uint64_t i) const { return base::real(bits(i) >> 11U) * 0x1p-53; }

  private:
    std::uint64_t seed_;
    std::uint64_t stream_;
};

}  // namespace ranklab::data
