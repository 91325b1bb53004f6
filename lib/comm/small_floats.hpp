// IEEE binary16 (fp16) and bfloat16, and their reductions on the CPU. Some supported compilers lack
// such types, so these classes hold the bits and compute in float.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace ranklab::comm {

/// narrow() rounds to nearest, ties to even. Every NaN becomes the same quiet NaN, so that ranks
/// hold equal bits whatever the order in which they combine NaNs.
struct Float16Format {
    static constexpr std::uint16_t kInfinity = 0x7c00;
    static constexpr std::uint16_t kNan = 0x7e00;
    static float widen(std::uint16_t bits);
    static std::uint16_t narrow(float value);
};
struct BFloat16Format {
    static constexpr std::uint16_t kInfinity = 0x7f80;
    static constexpr std::uint16_t kNan = 0x7fc0;
    static float widen(std::uint16_t bits);
    static std::uint16_t narrow(float value);
};

template <class Format>
struct SmallFloat {
    using format = Format;
    std::uint16_t bits = 0;

    SmallFloat() = default;
    explicit SmallFloat(float value) : bits(Format::narrow(value)) {}
    operator float() const { return Format::widen(bits); }
};
using Float16 = SmallFloat<Float16Format>;
using BFloat16 = SmallFloat<BFloat16Format>;
static_assert(sizeof(Float16) == 2 && sizeof(BFloat16) == 2);

/// yes ? a : b without a branch, which would keep the compiler from vectorising loops.
constexpr std::uint32_t choose(bool yes, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t mask = 0U - static_cast<std::uint32_t>(yes);
    return (a & mask) | (b & ~mask);
}

// widen() and narrow() have no branches and tables, so that loops are vectorised. Denormals are
// made by adding a number whose last bit has a denormal's weight, which also rounds. The
// processor's flush-to-zero mode has no effect.

inline float Float16Format::widen(std::uint16_t bits) {
    constexpr std::uint32_t kRebias = (127U - 15U) << 23U;
    constexpr std::uint32_t kSmallest = 113U << 23U;  // 2^-14, the smallest normal
    const std::uint32_t shifted = (bits & 0x7fffU) << 13U;
    const std::uint32_t exponent = bits & 0x7c00U;
    const std::uint32_t normal = shifted + kRebias + choose(exponent == 0x7c00U, kRebias, 0);
    const float denormal =
        std::bit_cast<float>(shifted + kSmallest) - std::bit_cast<float>(kSmallest);
    const std::uint32_t magnitude =
        choose(exponent == 0, std::bit_cast<std::uint32_t>(denormal), normal);
    return std::bit_cast<float>(magnitude | (bits & 0x8000U) << 16U);
}

inline std::uint16_t Float16Format::narrow(float value) {
    constexpr std::uint32_t kTooLarge = 143U << 23U;  // 2^16: infinity even before rounding
    constexpr std::uint32_t kSmallest = 113U << 23U;
    // 0.5: the last bit of this float weighs 2^-24, as does the last bit of a denormal.
    constexpr std::uint32_t kDenormalUnit = 126U << 23U;
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    const float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(kDenormalUnit);
    const std::uint32_t denormal = std::bit_cast<std::uint32_t>(sum) - kDenormalUnit;
    const std::uint32_t to_even = (magnitude >> 13U) & 1U;
    const std::uint32_t normal = (magnitude - ((127U - 15U) << 23U) + 0xfffU + to_even) >> 13U;
    std::uint32_t result = choose(magnitude < kSmallest, denormal, normal);
    result = choose(magnitude >= kTooLarge, kInfinity, result);
    result = choose(magnitude > 0x7f800000U, kNan, result | ((bits >> 16U) & 0x8000U));
    return static_cast<std::uint16_t>(result);
}

inline float BFloat16Format::widen(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

inline std::uint16_t BFloat16Format::narrow(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U;
    return static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? kNan : rounded);
}

enum class ReduceOp { sum, min, max };

/// inout[i] = inout[i] op in[i], for MPI, which lacks both types. A sum is the exact sum, rounded
/// once; -0 is below +0; a NaN on either side gives NaN. Swapping `in` and `inout` gives equal
/// bits.
template <class Format>
void reduce_small_floats(const std::uint16_t* in, std::uint16_t* inout, std::size_t count,
                         ReduceOp op);

}  // namespace ranklab::comm
