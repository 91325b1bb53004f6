// float64 datasets of one or two dimensions, and texts as datasets of bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hdf5/group.hpp"

namespace ranklab::hdf5 {

struct Array {
    std::vector<double> values;  ///< row-major
    std::size_t rows = 0;
    std::size_t columns = 1;  ///< 1 for a dataset of one dimension
};

/// Makes a dataset [rows], or [rows, columns] for columns > 1, where rows = values.size() / columns.
/// Small ones lie in the object's header, those above 32 KiB are compressed. Returns it for attributes.
Object write_array(const Group& group, const std::string& name, std::span<const double> values,
                   std::size_t columns = 1);

/// The same dataset, of a known number of rows, written piece by piece: what does not fit into memory.
class ArrayWriter {
  public:
    ArrayWriter(const Group& group, const std::string& name, std::size_t rows, std::size_t columns = 1);
    /// The next whole rows.
    void append(std::span<const double> values);
    /// The dataset, for attributes; the last call. base::Error where rows are missing.
    Object finish();

  private:
    Object dataset_;
    std::size_t rows_, columns_;
    std::size_t written_ = 0;
};

/// Reads any integer or floating-point dataset of one or two dimensions. DataError for another type
/// or rank, or a size that the file cannot hold.
Array read_array(const Group& group, const std::string& name);

/// Its rows and columns, without reading it. The same errors.
Array array_shape(const Group& group, const std::string& name);

/// Such a dataset, read piece by piece. Keeps the file open, whatever becomes of the group and of the file's
/// name; locks the library for each piece.
class ArrayReader {
  public:
    ArrayReader(const Group& group, const std::string& name);
    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    /// The whole rows from `first` on that fit into `to`.
    void read(std::size_t first, std::span<double> to) const;

  private:
    Id file_;
    std::string path_;
    std::unique_ptr<Object> dataset_;
    std::size_t rows_ = 0, columns_ = 1;
};

/// A text as a dataset of uint8 with a checksum (fletcher32); not empty.
void write_bytes(const Group& group, const std::string& name, std::string_view bytes);
std::string read_bytes(const Group& group, const std::string& name);

}  // namespace ranklab::hdf5
