// float64 datasets of one or two dimensions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/element.hpp"
#include "hdf5/file.hpp"

namespace ranklab::hdf5 {

struct Array {
    std::vector<double> values;  ///< row-major
    std::size_t rows = 0;
    std::size_t columns = 1;  ///< 1 for a dataset of one dimension
};

/// Makes a dataset [rows], or [rows, columns] for columns > 1, where rows = values.size() /
/// columns. Small ones lie in the object's header, those above 32 KiB are compressed. Returns it
/// for attributes.
Object write_array(const Group& group, const std::string& name, std::span<const double> values,
                   std::size_t columns = 1);

/// Reads any integer or floating-point dataset of one or two dimensions. DataError for another type
/// or rank, or a size that the file cannot hold.
Array read_array(const Group& group, const std::string& name);

/// A text as a dataset of uint8 with a checksum (fletcher32); not empty.
void write_bytes(const Group& group, const std::string& name, std::string_view bytes);
std::string read_bytes(const Group& group, const std::string& name);

using base::Element;
using base::size_of;

struct TypedArray {
    Element element = Element::u8;
    std::vector<std::int64_t> shape;  ///< empty: one number; up to 8 dimensions
    std::vector<std::byte> bytes;     ///< row-major, in this machine's byte order
};

/// Stores the numbers contiguous and uncompressed: trained ones are as good as random. Returns the
/// byte of the file at which they begin (0 where there are none).
std::uint64_t write_typed(const Group& group, const std::string& name, const TypedArray& array);

}  // namespace ranklab::hdf5
