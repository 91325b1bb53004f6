// A checksum of numbers by their place that can be summed up in any order: by ranks, by slabs, by planes.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <span>
#include <string>

#include "data/random.hpp"

namespace ranklab::data {

/// Of the elements from place `first` of a row-major array: the sum, modulo 2^64, of
/// mix64(place * 0x9E3779B97F4A7C15 + the float's 32 bits). One changed element always changes it.
inline std::uint64_t sum64(std::uint64_t first, std::span<const float> values) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
        sum += mix64((first + i) * kGolden64 + std::bit_cast<std::uint32_t>(values[i]));
    return sum;
}

/// As it stands in a file: "sum64:0123456789abcdef".
inline std::string sum64_text(std::uint64_t sum) {
    return fmt::format("sum64:{:016x}", sum);
}

}  // namespace ranklab::data
