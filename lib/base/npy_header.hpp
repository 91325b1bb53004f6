// The header of a NumPy npy file.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ranklab::base {

/// The bytes that numpy.save writes before an array in C order: format version 1.0, padded to a
/// multiple of 64. `descr` is NumPy's type text ("<f4", "<f8"). Format:
/// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
inline std::string npy_header(std::string_view descr, const std::vector<std::int64_t>& shape) {
    std::string dictionary =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (", descr);
    for (const std::int64_t extent : shape) dictionary += fmt::format("{}, ", extent);
    if (shape.size() > 1) dictionary.resize(dictionary.size() - 2);
    dictionary += "), }";
    constexpr std::size_t kBefore = 10;
    const std::size_t whole = (kBefore + dictionary.size() + 1 + 63) / 64 * 64;
    dictionary.resize(whole - kBefore - 1, ' ');
    dictionary += '\n';
    std::string text("\x93NUMPY");
    text += {'\x01', '\x00'};
    text += static_cast<char>(dictionary.size() & 0xFFU);
    text += static_cast<char>(dictionary.size() >> 8U);
    return text + dictionary;
}

}  // namespace ranklab::base
