// CSV files.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace ranklab::base {

struct CsvRow {
    std::map<std::string, std::string> cells;  ///< by the header's names
    std::string source;                        ///< of the last comment `# source:` above it

    /// DataError where there is no such column.
    const std::string& at(const std::string& column) const;
};
/// Gives each row to `take`. The first line is the header, cells may be quoted as in RFC 4180,
/// lines that begin with # are comments. DataError where the file cannot be read or has no row, and
/// with the line where one has not as many cells as the header, and for any Error of `take`.
void read_csv(const std::filesystem::path& path, const std::function<void(const CsvRow&)>& take);
/// DataError where the text is not one.
double number_above_0(const std::string& text);

}  // namespace ranklab::base
