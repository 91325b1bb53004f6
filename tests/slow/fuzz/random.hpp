// The one source of chance: everything follows from a seed and a number, so that a mutant can be made again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace ranklab::fuzz {

using Bytes = std::string;

class Random {
  public:
    /// Another stream for each pair; `part` tells streams of one mutant apart.
    Random(std::uint64_t seed, std::uint64_t number, std::uint64_t part = 0) {
        std::seed_seq sequence{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U),
                               static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32U),
                               static_cast<std::uint32_t>(part)};
        engine_.seed(sequence);
    }

    std::uint64_t next() { return engine_(); }
    /// 0 where `end` is 0.
    std::size_t below(std::size_t end) { return end == 0 ? 0 : next() % end; }
    bool chance(std::size_t percent) { return below(100) < percent; }
    /// Small numbers more often than large ones, up to `end` (excluded).
    std::size_t mostly_small(std::size_t end) { return below(below(end) + 1); }

    template <class Container>
    const auto& pick(const Container& values) {
        return values[below(std::size(values))];
    }

  private:
    std::mt19937_64 engine_;
};

/// Numbers at which sums and sizes go wrong.
std::uint64_t edge_number(Random& random);
/// The same as texts that people and programs write: "1e300", "-0", "0x10", "nan", "١٢".
std::string edge_text(Random& random);
/// Bytes of all kinds: plain words, quotes, controls, escapes of terminals, broken UTF-8, signatures of HDF5.
std::string hostile_text(Random& random, std::size_t most = 200);
/// JSON: nested deeply, of many keys, cut short, or of odd numbers.
std::string hostile_json(Random& random);

}  // namespace ranklab::fuzz
