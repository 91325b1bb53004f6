// The binary format of CIFAR-100: records of 3,074 bytes without a header. Byte 0 is the coarse
// label (0 to 19), byte 1 the fine label (0 to 99); 1,024 bytes each of red, green and blue follow,
// 32 rows of 32.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

#include "data/source.hpp"

namespace ranklab::data {

inline constexpr std::int64_t kCifar100Record = 3074;
inline constexpr ImageShape kCifar100Shape{3, 32, 32};
inline constexpr std::int64_t kCifar100Classes = 100;

/// The coarse label of each fine label in the original set.
inline constexpr std::array<std::uint8_t, 100> kCifar100Coarse{
    4,  1,  14, 8,  0,  6,  7,  7,  18, 3,  3,  14, 9,  18, 7,  11, 3,  9,  7,  11,
    6,  11, 5,  10, 7,  6,  13, 15, 3,  15, 0,  11, 1,  10, 12, 14, 16, 9,  11, 5,
    5,  19, 8,  8,  15, 13, 14, 17, 18, 10, 16, 4,  17, 4,  2,  0,  17, 4,  18, 17,
    10, 3,  2,  12, 12, 16, 12, 1,  9,  19, 2,  10, 0,  1,  16, 12, 9,  13, 15, 13,
    16, 19, 2,  4,  6,  19, 5,  5,  8,  19, 18, 1,  2,  15, 6,  0,  17, 8,  14, 13};

/// Reads a file, keeping the fine labels. Throws DataError with file and place if it is missing,
/// empty or truncated, or if a label is out of range or a coarse label is not the fine label's.
ImageSet read_cifar100(const std::filesystem::path& file);

}  // namespace ranklab::data
