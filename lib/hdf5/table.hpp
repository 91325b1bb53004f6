// Compound datasets of one dimension: a row is a record, a member a column.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "hdf5/file.hpp"

namespace ranklab::hdf5 {

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
