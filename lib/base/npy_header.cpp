#include "base/npy_header.hpp"

#include <fmt/format.h>

namespace ranklab::base {

std::string npy_header(std::string_view descr, const std::vector<std::int64_t>& shape) {
    std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (", descr);
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
