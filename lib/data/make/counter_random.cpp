#include "data/make/counter_random.hpp"

#include <cmath>
#include <numbers>

#include "base/numbers.hpp"

namespace ranklab::data {
namespace {

constexpr int kRounds = 10;

std::uint32_t low(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}
std::uint32_t high(std::uint64_t value) {
    return static_cast<std::uint32_t>(value >> 32U);
}

// 53 bits of two words, in [0, 1).
double unit(std::uint32_t a, std::uint32_t b) {
    const std::uint64_t bits = std::uint64_t{a} << 32U | b;
    return base::real(bits >> 11U) * 0x1p-53;
}

std::array<double, 2> normal_pair(const Words& words) {
    // 1 - u is never 0.
    const double radius = std::sqrt(-2 * std::log(1 - unit(words[0], words[1])));
    const double angle = 2 * std::numbers::pi * unit(words[2], words[3]);
    return {radius * std::cos(angle), radius * std::sin(angle)};
}

}  // namespace

Words philox(const Words& counter, const std::array<std::uint32_t, 2>& key) {
    Words c = counter;
    auto k = key;
    for (int round = 0; round < kRounds; ++round) {
        const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * c[0];
        const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * c[2];
        c = {high(p1) ^ c[1] ^ k[0], low(p1), high(p0) ^ c[3] ^ k[1], low(p0)};
        k[0] += 0x9E3779B9U;
        k[1] += 0xBB67AE85U;
    }
    return c;
}

Words CounterRandom::block(std::uint64_t i) const {
    return philox({low(i), high(i), low(stream_), high(stream_)}, {low(seed_), high(seed_)});
}

double CounterRandom::uniform(std::uint64_t i) const {
    const Words words = block(i);
    return unit(words[0], words[1]);
}

std::uint64_t CounterRandom::bits(std::uint64_t i) const {
    const Words words = block(i);
    return std::uint64_t{words[0]} << 32U | words[1];
}

void CounterRandom::normals(std::uint64_t first, std::span<double> out) const {
    std::array<double, 2> pair{};
    for (std::size_t n = 0; n < out.size(); ++n) {
        const std::uint64_t i = first + n;
        if (n == 0 || i % 2 == 0) pair = normal_pair(block(i / 2));
        out[n] = pair[i % 2];
    }
}

}  // namespace ranklab::data
