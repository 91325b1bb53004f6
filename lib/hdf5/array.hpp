// Reads and writes datasets: float64 of one or two dimensions, bytes, arrays of any element type
// (also row by row) and tables. Finds the place of a dataset's values in its file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/element.hpp"
#include "hdf5/file.hpp"

namespace ranklab::hdf5 {

struct Array {
    std::vector<double> values;  ///< row-major
    std::size_t columns = 1;     ///< 1 for a dataset of one dimension
};

/// Makes a dataset [rows], or [rows, columns] if columns > 1, with rows = values.size() / columns.
/// Above 32 KiB it is compressed. Returns the dataset, for attributes.
Object write_array(const Group& group, const std::string& name, std::span<const double> values,
                   std::size_t columns = 1);

/// Reads an integer or floating-point dataset of one or two dimensions. Throws DataError for other
/// types or dimensions, or a size that the file cannot hold.
Array read_array(const Group& group, const std::string& name);

/// Reads a box of a dataset, row-major; the whole dataset if the box has no dimensions. `values`
/// has the size of the box. Throws DataError if the box cannot be read.
void read_part(const Object& dataset, const Box& part, std::span<double> values);
void read_part(const Object& dataset, const Box& part, std::span<float> values);

using base::Element;
using base::size_of;

struct TypedArray {
    Element element = Element::u8;
    std::vector<std::int64_t> shape;  ///< up to 8 dimensions; empty: a scalar
    std::vector<std::byte> bytes;     ///< row-major, in this machine's byte order
};

/// Stores the numbers contiguous and uncompressed, since trained parameters do not compress.
void write_typed(const Group& group, const std::string& name, const TypedArray& array);
/// Throws DataError for an element type that write_typed does not store, or a size that the file
/// cannot hold.
TypedArray read_typed(const Group& group, const std::string& name);

/// Writes a non-empty text as a dataset of uint8 with a checksum (fletcher32).
void write_bytes(const Group& group, const std::string& name, std::string_view bytes);
std::string read_bytes(const Group& group, const std::string& name);

/// An array of numbers in a file, read row by row along its first axis.
struct Rows {
    std::string name;                 ///< for messages
    std::vector<std::int64_t> shape;  ///< [rows, ...]
    std::string type;                 ///< NumPy's name, "float32"
    /// Reads row `index`, converted to f32, f64 or i64. Thread-safe. Throws DataError if the row
    /// cannot be read.
    std::function<void(std::int64_t index, base::Element as, std::byte* to)> read;

    /// The shape of one row.
    std::vector<std::int64_t> sizes() const { return {shape.begin() + 1, shape.end()}; }
};

bool names_dataset(const std::string& name);  ///< true for "FILE:/DATASET"
/// Opens "FILE:/DATASET" of any layout, to be read through the library. Throws OptionError for
/// another form of name, DataError unless it is a dataset of integers or floating-point numbers.
Rows open_rows(const std::string& name);

/// Where a dataset's chunks lie in its file, so that several threads can read them without HDF5,
/// which serves one thread at a time. A contiguous dataset is one chunk. Chunks are row-major and
/// have their full size, also at the upper ends of the shape.
struct DatasetPlace {
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> chunk;
    /// Byte of the file at which each chunk begins, row-major over the grid of chunks.
    std::vector<std::uint64_t> offsets;
    bool is_float32 = false;  ///< of either byte order
    /// Why only HDF5 can read the values. "" if each chunk is allocated in this file, without
    /// filter and in this machine's byte order.
    std::string indirect;

    bool direct() const { return indirect.empty(); }
    /// Chunks along each dimension.
    std::vector<std::int64_t> grid() const;
    /// The byte after the last chunk: a shorter file is truncated.
    std::uint64_t end() const;
};

/// A dataset of more than 16,384 chunks is `indirect`: HDF5 1.10 takes 8 s to locate them, and the
/// time grows with their number squared. Throws DataError if a smaller dataset has unwritten parts.
DatasetPlace place_of(const Object& dataset);

/// A column of a table (a compound dataset of one dimension, with a record per row).
struct Column {
    std::string name;
    std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>> values;
};

/// Writes a table; above 32 KiB it is compressed. Texts get the fixed length of the column's
/// longest entry (UTF-8, padded with NUL). Throws base::Error unless the columns, at least one,
/// have equal length and different names.
void write_table(const Group& group, const std::string& name, const std::vector<Column>& columns);

/// Reads integers of any width as int64, floats as double. Throws DataError if the dataset is not
/// such a table, or claims a size that the file cannot hold.
std::vector<Column> read_table(const Group& group, const std::string& name);

}  // namespace ranklab::hdf5
