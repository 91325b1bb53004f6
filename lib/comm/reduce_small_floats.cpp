#include "comm/reduce_small_floats.hpp"

#include <algorithm>

namespace ranklab::comm {
namespace {

// The arrays never overlap: saying so spares each loop its check.
template <class Combine>
void combine(const std::uint16_t* __restrict in, std::uint16_t* __restrict inout, std::size_t count,
             Combine with) {
    for (std::size_t i = 0; i < count; ++i) inout[i] = with(inout[i], in[i]);
}

template <class Format>
bool is_nan(std::uint16_t bits) {
    return (bits & 0x7fffU) > Format::kInfinity;
}

// Sign and magnitude, mapped to two's complement and back (it is its own inverse): integers in the order of
// the numbers they stand for, so that no conversion is needed to compare.
std::int16_t ordered(std::uint16_t bits) {
    const auto value = static_cast<std::int16_t>(bits);
    return static_cast<std::int16_t>(value ^ ((value >> 15) & 0x7fff));
}

template <class Format, class Pick>
std::uint16_t pick(std::uint16_t a, std::uint16_t b, Pick which) {
    const std::int16_t chosen = which(ordered(a), ordered(b));
    const auto bits = static_cast<std::uint16_t>(chosen ^ ((chosen >> 15) & 0x7fff));
    return is_nan<Format>(a) || is_nan<Format>(b) ? Format::kNan : bits;
}

}  // namespace

template <class Format>
void reduce_small_floats(const std::uint16_t* in, std::uint16_t* inout, std::size_t count, ReduceOp op) {
    using Bits = std::uint16_t;
    const auto smaller = [](std::int16_t a, std::int16_t b) { return std::min(a, b); };
    const auto larger = [](std::int16_t a, std::int16_t b) { return std::max(a, b); };
    switch (op) {
        case ReduceOp::sum:
            // float has more than twice the digits of either format: rounding twice equals rounding once.
            combine(in, inout, count,
                    [](Bits a, Bits b) { return Format::narrow(Format::widen(a) + Format::widen(b)); });
            return;
        case ReduceOp::min:
            combine(in, inout, count, [&](Bits a, Bits b) { return pick<Format>(a, b, smaller); });
            return;
        case ReduceOp::max:
            combine(in, inout, count, [&](Bits a, Bits b) { return pick<Format>(a, b, larger); });
            return;
    }
}

template void reduce_small_floats<Float16Format>(const std::uint16_t*, std::uint16_t*, std::size_t, ReduceOp);
template void reduce_small_floats<BFloat16Format>(const std::uint16_t*, std::uint16_t*, std::size_t,
                                                  ReduceOp);

}  // namespace ranklab::comm
