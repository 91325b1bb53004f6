// What stands before the values of a NumPy npy file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ranklab::base {

/// The bytes that numpy.save writes before an array in C order: format version 1.0, padded to a multiple
/// of 64. `descr` is NumPy's type text ("<f4", "<f8"). Format:
/// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
std::string npy_header(std::string_view descr, const std::vector<std::int64_t>& shape);

}  // namespace ranklab::base
