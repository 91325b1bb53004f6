#include "report/figures/stored_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "report/model/values.hpp"

namespace ranklab::report::figures {
namespace {

constexpr std::size_t kMostStoredRows = 400;  // more are for no reader
constexpr std::size_t kLongestHead = 120;

std::string head_of(const std::string& column) {
    using Unit = std::pair<std::string_view, const char*>;
    static constexpr std::array kUnits{Unit{"_us", "us"}, Unit{"_GBps", "GB/s"}, Unit{"_percent", "%"},
                                       Unit{"_ppm", "ppm"}, Unit{"_bytes", "B"}};
    std::string head = column, unit;
    for (const auto& [ending, name] : kUnits)
        if (head.ends_with(ending)) {
            head.resize(head.size() - ending.size());
            unit = fmt::format(" [{}]", name);
            break;
        }
    std::ranges::replace(head, '_', ' ');
    return cut(head, kLongestHead) + unit;
}

bool says_something(const results::Column& column, std::size_t rows) {
    const auto* texts = std::get_if<std::vector<std::string>>(&column.values);
    if (texts == nullptr) return true;
    const bool same = std::ranges::all_of(*texts, [&](const auto& text) { return text == texts->front(); });
    const bool counts_alone =
        rows == 1 || column.name == "mark";  // what is true of all rows is no difference
    return !same || (counts_alone && !texts->front().empty());
}

// A column, and the ends of its interval where it has one.
struct Shown {
    std::string name, low = {}, high = {};
};

// Whether the column is one end, "alpha_low_us" or "low_us"; if so, what stands around the word.
bool is_end(const std::string& name, const std::string& end, std::string& before, std::string& unit) {
    const std::size_t at = name.starts_with(end + "_") ? 0 : name.find("_" + end + "_");
    if (at == std::string::npos) return false;
    before = name.substr(0, at);
    unit = name.substr(at + (at == 0 ? 0 : 1) + end.size());
    return true;
}

// An end belongs to the first column of that unit that begins as it does.
void add_end(std::vector<Shown>& columns, const std::string& name, const std::string& before,
             const std::string& unit, std::string Shown::*end) {
    for (auto& column : columns)
        if (column.name.starts_with(before) && column.name.ends_with(unit)) {
            column.*end = name;
            return;
        }
}

std::vector<Shown> shown_columns(const results::Table& table, std::size_t rows) {
    std::vector<Shown> columns;
    std::string before, unit;
    for (const auto& column : table.columns) {
        if (is_end(column.name, "low", before, unit))
            add_end(columns, column.name, before, unit, &Shown::low);
        else if (is_end(column.name, "high", before, unit))
            add_end(columns, column.name, before, unit, &Shown::high);
        else if (columns.empty() || says_something(column, rows))
            columns.push_back({column.name});
    }
    return columns;
}

Words cell(const results::Run& run, const results::Table& table, const Shown& column, std::size_t row) {
    Words words = cell_of(run, table, column.name, row);
    if (!std::isnan(model::number_at(table, column.low, row)) &&
        !std::isnan(model::number_at(table, column.high, row)))
        append(words, {" ", cell_interval(run, table, row, column.low, column.high)});
    return words;
}

}  // namespace

NumberTable stored_table(const results::Run& run, const std::string& name, const std::string& title) {
    const results::Table* table = run.find_table(name);
    const std::size_t rows = table == nullptr ? 0 : model::row_count(*table);
    NumberTable made{{strong(title)}, {}, {}};
    if (rows == 0) return made;
    const auto columns = shown_columns(*table, rows);
    for (const auto& column : columns) made.heads.push_back(head_of(column.name));
    for (std::size_t row = 0; row < std::min(rows, kMostStoredRows); ++row) {
        made.rows.emplace_back();
        for (const auto& column : columns) made.rows.back().push_back(cell(run, *table, column, row));
    }
    if (rows > kMostStoredRows) made.rows.push_back({{fmt::format("… and {} more", rows - kMostStoredRows)}});
    return made;
}

}  // namespace ranklab::report::figures
