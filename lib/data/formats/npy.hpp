// NumPy's npy files, versions 1.0, 2.0 and 3.0: one array of little-endian numbers. Format:
// "\x93NUMPY", two version bytes, the header's length (2 bytes in 1.0, 4 after), a Python
// dictionary of 'descr', 'fortran_order' and 'shape', then the values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/files.hpp"

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

    std::size_t element_bytes() const { return type.bytes; }
    std::uint64_t values() const;  ///< product of the shape
};

class NpyFile {
  public:
    /// DataError naming the file for any fault: not an npy file, another type, an impossible shape,
    /// missing or surplus values. Memory never follows what a header claims.
    explicit NpyFile(const std::filesystem::path& path);

    const NpyHeader& header() const { return header_; }
    /// Reads values as float32 from place `first` of the file on. DataError where the file has
    /// shrunk since.
    void read(std::uint64_t first, std::span<float> values) const;

  private:
    std::filesystem::path path_;
    base::Descriptor descriptor_;
    NpyHeader header_;
};

/// The dictionary's text alone; throws DataError with a sentence that begins with `name`.
NpyHeader parse_npy_dictionary(const std::string& text, const std::string& name);

}  // namespace ranklab::data
