#include "report/model/text_table.hpp"

#include <algorithm>
#include <utility>

#include "base/one_line.hpp"

namespace ranklab::report::model {
namespace {

// Characters, not bytes: continuation bytes of UTF-8 take no room.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::vector<std::size_t> column_widths(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths(rows.front().size(), 0);
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
    return widths;
}

void trim_right(std::string& line) {
    line.erase(line.find_last_not_of(' ') + 1);
}

}  // namespace

TextTable::TextTable(std::vector<std::string> heads) {
    for (auto& head : heads) {
        const bool marked = head.starts_with('<');
        left_.push_back(marked || left_.empty());
        if (marked) head.erase(0, 1);
    }
    add(std::move(heads));
}

void TextTable::add(std::vector<std::string> cells) {
    for (auto& cell : cells) cell = base::one_line(cell);
    cells.resize(left_.size());
    rows_.push_back(std::move(cells));
}

std::string TextTable::block(const std::vector<std::size_t>& columns,
                             const std::vector<std::size_t>& widths) const {
    std::string text;
    for (const auto& row : rows_) {
        std::string line;
        for (const std::size_t i : columns) {
            const std::string padding(widths[i] - width_of(row[i]), ' ');
            line += "  " + (left_[i] ? row[i] + padding : padding + row[i]);
        }
        trim_right(line);
        text += line + '\n';
    }
    return text;
}

std::string TextTable::text() const {
    return text(SIZE_MAX);
}

std::string TextTable::text(std::size_t most_columns) const {
    const std::vector<std::size_t> widths = column_widths(rows_);
    std::string text;
    std::vector<std::size_t> columns{0};
    std::size_t used = 2 + widths.front();
    for (std::size_t i = 1; i < widths.size(); ++i) {
        if (columns.size() > 1 && used + 2 + widths[i] > most_columns) {
            text += block(columns, widths) + '\n';
            columns = {0};
            used = 2 + widths.front();
        }
        columns.push_back(i);
        used += 2 + widths[i];
    }
    return text + block(columns, widths);
}

}  // namespace ranklab::report::model
