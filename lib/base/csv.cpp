#include "base/csv.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"

namespace ranklab::base {
namespace {

constexpr std::string_view kSource = "# source:";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // spreadsheets write it

// Splits a line at the commas outside quotes; within quotes, "" is a quote (RFC 4180).
std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells{""};
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == ',' && !quoted)
            cells.emplace_back();
        else if (line[i] != '"')
            cells.back() += line[i];
        else if (quoted && line.compare(i, 2, "\"\"") == 0)
            cells.back() += line[i++];
        else
            quoted = !quoted;
    }
    for (auto& cell : cells) cell = trim(cell);
    return cells;
}

}  // namespace

double number_above_0(const std::string& text) {
    const auto number = number_in(text);
    if (!number || !std::isfinite(*number) || *number <= 0)
        throw DataError(fmt::format("'{}' is not a number above 0", printable(text, 40)));
    return *number;
}

const std::string& CsvRow::at(const std::string& column) const {
    const auto found = cells.find(column);
    if (found == cells.end())
        throw HeaderError(fmt::format("the header has no column '{}'", column));
    return found->second;
}

void read_csv(const std::filesystem::path& path, const std::function<void(const CsvRow&)>& take) {
    refuse_irregular<OptionError>(path);
    std::ifstream file(path);
    if (!file) throw DataError(fmt::format("{} cannot be read", path.string()));
    std::vector<std::string> names;
    CsvRow row;
    std::string line;
    std::size_t header = 0;
    for (std::size_t number = 1; std::getline(file, line); ++number) {
        if (number == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
        if (line.starts_with(kSource)) row.source = trim(line.substr(kSource.size()));
        if (trim(line).empty() || line.starts_with('#')) continue;
        const auto cells = cells_of(line);
        if (names.empty()) {
            names = cells;
            header = number;
            continue;
        }
        try {
            if (cells.size() != names.size())
                throw DataError(fmt::format("{} cells, but {} columns in the header", cells.size(),
                                            names.size()));
            for (std::size_t i = 0; i < names.size(); ++i) row.cells[names[i]] = cells[i];
            take(row);
        } catch (const Error& error) {
            const bool of_header = dynamic_cast<const HeaderError*>(&error) != nullptr;
            throw DataError(fmt::format("{} line {}: {}", path.string(),
                                        of_header ? header : number, error.what()));
        }
    }
    if (file.bad()) throw_read_errno("read", path, errno);
    if (row.cells.empty())
        throw DataError(fmt::format("{}: no rows below the header", path.string()));
}

}  // namespace ranklab::base
