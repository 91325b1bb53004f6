#include "io/savetxt.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

// std::to_chars (Ryu printf) takes 60 ns a value and glibc's printf 170: of a text strategy that is all its
// time. The ladder's numbers have few bits behind the point, and 19 digits of such a number are one exact
// multiplication of 64-bit integers.
namespace ranklab::io {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kTenTo18 = 1000000000000000000U;

struct DigitPairs {
    char text[200];
    constexpr DigitPairs() : text() {
        for (int i = 0; i < 100; ++i) {
            text[2 * i] = static_cast<char>('0' + i / 10);
            text[2 * i + 1] = static_cast<char>('0' + i % 10);
        }
    }
};
constexpr DigitPairs kPairs;

// value * 2^64 where that is a whole number below 2^64; 0 otherwise. value > 0.
std::uint64_t as_fraction_of_2_to_64(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int exponent = static_cast<int>(bits >> 52U) - 1023;  // of the leading bit
    if (exponent > -1 || exponent < -64) return 0;
    const std::uint64_t mantissa = (bits & ((std::uint64_t{1} << 52U) - 1)) | (std::uint64_t{1} << 52U);
    const int shift = exponent + 64 - 52;  // -52 .. 11
    if (shift >= 0) return mantissa << static_cast<unsigned>(shift);
    const auto down = static_cast<unsigned>(-shift);
    if ((mantissa & ((std::uint64_t{1} << down) - 1)) != 0) return 0;
    return mantissa >> down;
}

// The two lowest of `digits`' decimal digits to to[0..1], pair by pair upwards: 18 digits before `end`.
void write_18_digits(std::uint64_t digits, char* end) {
    for (int i = 0; i < 9; ++i) {
        end -= 2;
        std::memcpy(end, kPairs.text + 2 * (digits % 100), 2);
        digits /= 100;
    }
}

char* write_zero(char* to) {
    constexpr char kZero[] = "0.000000000000000000e+00";
    std::memcpy(to, kZero, sizeof kZero - 1);
    return to + sizeof kZero - 1;
}

}  // namespace

char* write_value(double value, char* to) {
    if (value == 0 && !std::signbit(value)) return write_zero(to);
    const std::uint64_t fraction = value > 0 && value < 1 ? as_fraction_of_2_to_64(value) : 0;
    if (fraction == 0)
        return std::to_chars(to, to + kLongestValue, value, std::chars_format::scientific, 18).ptr;
    // fraction * 10^(18 + e) / 2^64 has 19 digits before the point for one e in 1 .. 20; the product stays
    // below 2^64 * 10^19 < 2^128.
    Wide scaled = Wide{fraction} * (kTenTo18 * 10U);
    int e = 1;
    while (static_cast<std::uint64_t>(scaled >> 64U) < kTenTo18) {
        scaled *= 10U;
        ++e;
    }
    auto digits = static_cast<std::uint64_t>(scaled >> 64U);
    const auto rest = static_cast<std::uint64_t>(scaled);
    constexpr std::uint64_t kHalf = std::uint64_t{1} << 63U;
    if (rest > kHalf || (rest == kHalf && digits % 2 == 1)) ++digits;  // to nearest, ties to even, as glibc
    if (digits == kTenTo18 * 10U) {
        digits = kTenTo18;
        --e;
    }
    write_18_digits(digits % kTenTo18, to + 20);
    to[0] = static_cast<char>('0' + digits / kTenTo18);
    to[1] = '.';
    to[20] = 'e';
    to[21] = e == 0 ? '+' : '-';
    std::memcpy(to + 22, kPairs.text + 2 * e, 2);
    return to + 24;
}

}  // namespace ranklab::io
