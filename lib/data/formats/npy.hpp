// NumPy's npy files, versions 1.0, 2.0 and 3.0: one array of little-endian numbers. Format:
// "\x93NUMPY", two version bytes, the header's length (2 bytes in 1.0, 4 after), a Python
// dictionary of 'descr', 'fortran_order' and 'shape', then the values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"

namespace ranklab::data {

/// In the order of their words, "|b1" .. "<f8".
enum class NpyType { b1, u1, i1, u2, i2, u4, i4, u8, i8, f2, f4, f8 };

/// Of NumPy's word, "<f4"; nothing for a type that is not read.
std::optional<NpyType> npy_type(std::string_view descr);
std::size_t bytes_of(NpyType type);
/// NumPy's name: "float32".
std::string_view name_of(NpyType type);

/// Numbers in another type, float or std::int64_t. `from` may be at any address.
template <class To>
void convert_numbers(NpyType type, const std::byte* from, std::span<To> to);

struct NpyHeader {
    NpyType type = NpyType::f4;
    std::vector<std::int64_t> shape;
    std::uint64_t data_offset = 0;  ///< where the values begin in the file

    std::size_t element_bytes() const { return bytes_of(type); }
    std::uint64_t values() const;  ///< product of the shape
};

class NpyFile {
  public:
    /// DataError naming the file for whatever is not as it should be: no npy file, another type, a
    /// shape that cannot be, values missing or too many. Memory never follows what a header claims.
    explicit NpyFile(const std::filesystem::path& path);

    const NpyHeader& header() const { return header_; }
    /// Values from place `first` of the file on, as float32. DataError where the file has shrunk
    /// since.
    void read(std::uint64_t first, std::span<float> values) const;

  private:
    std::filesystem::path path_;
    base::Descriptor descriptor_;
    NpyHeader header_;
};

/// The dictionary's text alone; throws DataError with a sentence that begins with `name`.
NpyHeader parse_npy_dictionary(const std::string& text, const std::string& name);

}  // namespace ranklab::data
