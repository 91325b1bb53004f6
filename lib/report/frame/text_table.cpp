#include "report/frame/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/one_line.hpp"
#include "base/text.hpp"

namespace ranklab::report {
namespace {

constexpr std::size_t kNarrowest = 24;  // of a text that goes on in the next line

std::size_t longest_word(const std::string& cell) {
    std::size_t longest = 0;
    for (const auto& word : base::split(cell, ' ')) longest = std::max(longest, base::columns_of(word));
    return longest;
}

std::size_t room_of(const std::vector<std::size_t>& widths, const std::vector<std::size_t>& chosen) {
    std::size_t room = 0;
    for (const std::size_t i : chosen) room += 2 + widths[i];
    return room;
}

std::vector<std::string> lines_of(const std::string& cell, std::size_t width) {
    if (base::columns_of(cell) <= width) return {cell};
    std::string text = base::wrapped("", cell, width);
    text.pop_back();
    return base::split(text, '\n');
}

std::string padded(const std::string& cell, std::size_t width, bool left) {
    const std::string padding(width - std::min(width, base::columns_of(cell)), ' ');
    return left ? cell + padding : padding + cell;
}

void trim_right(std::string& line) {
    line.erase(line.find_last_not_of(' ') + 1);
}

}  // namespace

TextTable::TextTable(std::vector<std::string> heads, std::size_t keys) : keys_(std::min(keys, heads.size())) {
    for (auto& head : heads) {
        const bool marked = head.starts_with('<');
        left_.push_back(marked || left_.empty());
        beside_.push_back(head.starts_with('+'));
        if (marked || beside_.back()) head.erase(0, 1);
    }
    add(std::move(heads));
}

void TextTable::add(std::vector<std::string> cells) {
    for (auto& cell : cells) cell = base::one_line(cell);
    cells.resize(left_.size());
    rows_.push_back(std::move(cells));
}

TextTable::Widths TextTable::widths() const {
    Widths widths(left_.size(), 0);
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], base::columns_of(row[i]));
    return widths;
}

// Where texts from column `first` on go on in the next line; a word stays whole.
TextTable::Widths TextTable::least_widths(std::size_t first) const {
    Widths least = widths();
    for (std::size_t i = first; i < left_.size(); ++i) {
        if (!left_[i] || least[i] <= kNarrowest) continue;
        least[i] = kNarrowest;
        for (const auto& row : rows_) least[i] = std::max(least[i], longest_word(row[i]));
    }
    return least;
}

// What room there is over the least widths goes to the texts, the first first.
std::string TextTable::block(const Widths& chosen, Widths wide, std::size_t columns) const {
    const Widths wanted = widths();
    std::size_t spare = columns - std::min(columns, room_of(wide, chosen));
    for (const std::size_t i : chosen) {
        const std::size_t more = std::min(spare, wanted[i] - wide[i]);
        wide[i] += more;
        spare -= more;
    }
    std::string text;
    for (const auto& row : rows_) {
        std::vector<std::vector<std::string>> cells;
        for (const std::size_t i : chosen) cells.push_back(lines_of(row[i], wide[i]));
        const auto height =
            std::ranges::max(cells, {}, [](const auto& lines) { return lines.size(); }).size();
        for (std::size_t n = 0; n < height; ++n) {
            std::string line;
            for (std::size_t c = 0; c < chosen.size(); ++c)
                line +=
                    "  " + padded(n < cells[c].size() ? cells[c][n] : "", wide[chosen[c]], left_[chosen[c]]);
            trim_right(line);
            text += line + '\n';
        }
    }
    return text;
}

// And what keeps beside it.
TextTable::Widths TextTable::with_next(Widths chosen, std::size_t next) const {
    do chosen.push_back(next++);
    while (next < beside_.size() && beside_[next]);
    return chosen;
}

std::string TextTable::numbered(std::size_t columns) const {
    std::vector<std::string> heads{"row"};
    for (std::size_t i = 0; i < left_.size(); ++i)
        heads.push_back((beside_[i] ? "+" : left_[i] ? "<" : "") + rows_[0][i]);
    TextTable table(std::move(heads));
    for (std::size_t n = 1; n < rows_.size(); ++n) {
        std::vector<std::string> cells{fmt::to_string(n)};
        cells.insert(cells.end(), rows_[n].begin(), rows_[n].end());
        table.add(std::move(cells));
    }
    return table.text(columns);
}

std::string TextTable::text(std::size_t columns) const {
    Widths least = least_widths(0);
    Widths all(left_.size()), keys(keys_);
    std::iota(all.begin(), all.end(), 0);
    std::iota(keys.begin(), keys.end(), 0);
    if (keys_ == all.size() || room_of(least, all) <= columns) return block(all, least, columns);
    least = least_widths(all.size() - 1);
    if (keys_ > 1 && 2 * room_of(least, keys) > columns) return numbered(columns);
    std::string text;
    for (std::size_t next = keys_; next < all.size();) {
        Widths chosen = keys;
        do chosen = with_next(std::move(chosen), next);
        while ((next = 1 + chosen.back()) < all.size() && room_of(least, with_next(chosen, next)) <= columns);
        if (!text.empty()) text += '\n';
        text += block(chosen, least, columns);
    }
    return text;
}

}  // namespace ranklab::report
