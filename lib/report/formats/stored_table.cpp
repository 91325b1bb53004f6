#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/formats/parts.hpp"
#include "report/model/text_table.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::formats {

std::string plain(double value, double scale, double fewest) {
    const double magnitude =
        scale == 0 || !std::isfinite(scale) ? 0 : std::floor(std::log10(std::abs(scale)));
    return fmt::format("{:.{}f}", value, static_cast<int>(std::clamp(3 - magnitude, fewest, 9.0)));
}

std::string plain(double value) {
    return std::isnan(value) ? "n/a" : plain(value, value, 0);
}

std::string stored_table(const results::Table& table, const std::string& title, std::size_t most_rows,
                         const model::HowTo& how_to,
                         const std::function<std::string(const std::string&)>& head_of,
                         const std::function<std::string(const results::Column&, std::size_t)>& cell_of) {
    if (table.columns.empty()) return "";
    std::vector<std::string> heads;
    for (const auto& column : table.columns) {
        const bool is_text = std::holds_alternative<std::vector<std::string>>(column.values);
        heads.push_back(std::string(is_text ? "<" : "") + head_of(column.name));
    }
    model::TextTable text(std::move(heads));
    const std::size_t rows = model::row_count(table);
    for (std::size_t row = 0; row < std::min(rows, most_rows); ++row) {
        std::vector<std::string> cells;
        for (const auto& column : table.columns) cells.push_back(cell_of(column, row));
        text.add(std::move(cells));
    }
    const std::string rest = rows > most_rows
                                 ? fmt::format("  and {} more rows{}\n", rows - most_rows,
                                               how_to.all_rows.empty() ? "" : " (" + how_to.all_rows + ")")
                                 : "";
    return fmt::format("{}\n{}{}\n", title, text.text(), rest);
}

}  // namespace ranklab::report::formats
