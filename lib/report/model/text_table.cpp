#include "report/model/text_table.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/one_line.hpp"
#include "base/wrap.hpp"

namespace ranklab::report::model {
namespace {

// Of the last column, where its texts go on in the next line.
constexpr std::size_t kNarrowest = 24;

std::size_t room_of(const std::vector<std::size_t>& widths, const std::vector<std::size_t>& chosen) {
    std::size_t room = 0;
    for (const std::size_t i : chosen) room += 2 + widths[i];
    return room;
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

std::vector<std::size_t> TextTable::widths() const {
    std::vector<std::size_t> widths(left_.size(), 0);
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], base::columns_of(row[i]));
    return widths;
}

std::string TextTable::block(const std::vector<std::size_t>& chosen, std::size_t columns) const {
    const std::vector<std::size_t> wide = widths();
    std::string text;
    for (const auto& row : rows_) {
        std::string line;
        for (const std::size_t i : chosen) {
            const bool last = i == chosen.back() && left_[i];
            const std::string padding(wide[i] - base::columns_of(row[i]), ' ');
            if (last && base::columns_of(line) + 2 + base::columns_of(row[i]) > columns)
                line = base::wrapped(line + "  ", row[i], columns);
            else
                line += "  " + (left_[i] ? row[i] + padding : padding + row[i]);
        }
        if (line.ends_with('\n')) line.pop_back();
        trim_right(line);
        text += line + '\n';
    }
    return text;
}

std::string TextTable::text() const {
    return text(std::string::npos);
}

std::string TextTable::text(std::size_t most_columns) const {
    std::vector<std::size_t> wide = widths();
    if (left_.size() > 1 && left_.back()) wide.back() = std::min(wide.back(), kNarrowest);
    std::string text;
    for (std::size_t next = std::min<std::size_t>(1, left_.size()); next < left_.size();) {
        std::vector<std::size_t> chosen{0};
        do chosen.push_back(next++);
        while (next < left_.size() && room_of(wide, chosen) + 2 + wide[next] <= most_columns);
        text += (text.empty() ? "" : "\n") + block(chosen, most_columns);
    }
    return left_.size() == 1 ? block({0}, most_columns) : text;
}

}  // namespace ranklab::report::model
