// Reads CSV files.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "base/error.hpp"

namespace ranklab::base {

/// A fault of the header, which read_csv() reports with the header's line.
struct HeaderError : DataError {
    using DataError::DataError;
};

struct CsvRow {
    std::map<std::string, std::string> cells;  ///< by column name
    std::string source;  ///< text of the last comment `# source: ...` above the row

    /// Throws HeaderError if the header has no such column.
    const std::string& at(const std::string& column) const;
};
/// Calls `take` with each row. The first line is the header; cells may be quoted (RFC 4180); lines
/// that begin with # are comments. Throws OptionError for a FIFO or a device, DataError if the file
/// cannot be read or has no row. If a row has more or fewer cells than the header, or `take` throws
/// an Error, throws DataError with the path and the line number.
void read_csv(const std::filesystem::path& path, const std::function<void(const CsvRow&)>& take);
/// Throws DataError if the text is not a finite number above 0.
double number_above_0(const std::string& text);

}  // namespace ranklab::base
