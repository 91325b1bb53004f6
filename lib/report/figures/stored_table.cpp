#include "report/figures/stored_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "report/model/values.hpp"

namespace ranklab::report::figures {
namespace {

constexpr std::size_t kMostStoredRows = 400;  // more are for no reader
constexpr std::size_t kLongestHead = 120;

std::string head_of(const std::string& column) {
    using Unit = std::pair<std::string_view, const char*>;
    static constexpr std::array kUnits{Unit{"_us", "us"},     Unit{"_GBps", "GB/s"}, Unit{"_percent", "%"},
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
    return !same || (rows == 1 && !texts->front().empty());
}

}  // namespace

NumberTable stored_table(const results::Run& run, const std::string& name, const std::string& title) {
    const results::Table* table = run.find_table(name);
    const std::size_t rows = table == nullptr ? 0 : model::row_count(*table);
    NumberTable made{{strong(title)}, {}, {}};
    if (rows == 0) return made;
    std::vector<std::string> columns;
    for (const auto& column : table->columns)
        if (&column == &table->columns.front() || says_something(column, rows)) columns.push_back(column.name);
    for (const auto& column : columns) made.heads.push_back(head_of(column));
    for (std::size_t row = 0; row < std::min(rows, kMostStoredRows); ++row) {
        made.rows.emplace_back();
        for (const auto& column : columns) made.rows.back().push_back(cell_of(run, *table, column, row));
    }
    if (rows > kMostStoredRows) made.rows.push_back({{fmt::format("… and {} more", rows - kMostStoredRows)}});
    return made;
}

}  // namespace ranklab::report::figures
