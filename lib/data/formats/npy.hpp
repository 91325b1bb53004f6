// NumPy's npy files, version 1.0 (what numpy.save writes of any plain array): one array of
// little-endian numbers. Format: "\x93NUMPY", two version bytes, the header's length in 2 bytes, a
// Python dictionary of 'descr', 'fortran_order' and 'shape', then the values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace ranklab::data {

/// kind: 'b' of bool, 'u', 'i' of integers, 'f'; 1 to 8 bytes, as in NumPy's "<f4".
struct NpyType {
    char kind = 'f';
    std::size_t bytes = 4;
    std::string name() const;  ///< NumPy's: "float32"
};

/// Numbers in another type, float or std::int64_t. `from` may be at any address.
template <class To>
void convert_numbers(NpyType type, const std::byte* from, std::span<To> to);

struct NpyHeader {
    NpyType type;
    std::vector<std::int64_t> shape;
    std::uint64_t data_offset = 0;  ///< where the values begin in the file

    std::uint64_t values() const;  ///< product of the shape
};

/// DataError naming the file for any fault: not an npy file, another type, an impossible shape,
/// missing or surplus values. Memory never follows what a header claims.
NpyHeader read_npy_header(const std::filesystem::path& path);

}  // namespace ranklab::data
