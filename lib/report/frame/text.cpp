// Writes a Frame for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/terminal.hpp"
#include "base/text.hpp"
#include "report/frame/frame.hpp"

namespace ranklab::report {
namespace {

constexpr std::size_t kLongestKey = 40;
constexpr std::size_t kNarrowest = 24;  // least screen columns of a wrapped text

std::string padded(const std::string& cell, std::size_t width, bool left) {
    const std::string padding(width - std::min(width, base::columns_of(cell)), ' ');
    return left ? cell + padding : padding + cell;
}

struct TextColumn {
    std::vector<std::string> texts;  // the head, then the cells
    bool left = false;               // texts are flush left, and wrapped

    std::size_t width() const {
        return base::columns_of(std::ranges::max(texts, {}, base::columns_of));
    }
    std::size_t longest_word() const {
        std::size_t longest = 0;
        for (const auto& text : texts)
            for (const auto& word : base::split(text, ' '))
                longest = std::max(longest, base::columns_of(word));
        return longest;
    }
    // Appends a column of intervals, which no line break may part from their numbers.
    void append(const TextColumn& intervals) {
        const std::size_t own = width(), others = intervals.width();
        for (std::size_t i = 0; i < texts.size(); ++i)
            texts[i] =
                padded(texts[i], own, left) + "  " + padded(intervals.texts[i], others, false);
    }
};

// The first `keys` columns identify a row.
struct TextTable {
    std::vector<TextColumn> columns;
    std::size_t keys = 0;
};

bool has_intervals(const Frame& frame, std::size_t column) {
    return frame.columns[column].interval && std::ranges::any_of(frame.rows, [&](const Row& row) {
               return std::isfinite(row.at(column).interval.low);
           });
}

// The column `note` follows the keys, so that each block of columns has it.
TextTable table_of(const Frame& frame, Footnotes& footnotes) {
    TextTable table;
    bool marked = !frame.has_caveats();
    const auto references = [&](const Row& row) { return footnotes.references(row.caveats); };
    const auto made = [&](const std::string& head, bool left, const auto& text_of_row) {
        TextColumn column{{base::one_line(head)}, left || table.columns.empty()};
        for (const auto& row : frame.rows) column.texts.push_back(base::one_line(text_of_row(row)));
        return column;
    };
    for (std::size_t i = 0; i < frame.columns.size(); ++i) {
        const Column& column = frame.columns[i];
        if (!column.is_key() && !std::exchange(marked, true)) {
            table.columns.push_back(made("note", true, references));
            ++table.keys;
        }
        if (column.is_key()) ++table.keys;
        table.columns.push_back(made(column.title(), !frame.has_numbers(i), [&](const Row& row) {
            const std::string text = base::one_line(readable(row.at(i), column));
            return column.is_key() ? base::shortened(text, kLongestKey) : text;
        }));
        if (has_intervals(frame, i))
            table.columns.back().append(made("95% interval", false, [&](const Row& row) {
                return readable_interval(row.at(i).interval, row.at(i).number, column.unit);
            }));
    }
    if (!marked) table.columns.push_back(made("note", true, references));
    table.keys = std::max<std::size_t>(1, table.keys);
    return table;
}

std::size_t room_of(const std::vector<std::size_t>& widths, const Places& chosen) {
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

// The least widths of the columns; texts from column `first` on may be wrapped between words.
std::vector<std::size_t> least_widths(const TextTable& table, std::size_t first) {
    std::vector<std::size_t> least;
    for (const auto& column : table.columns) {
        const std::size_t wanted = column.width();
        const bool breaks = least.size() >= first && column.left && wanted > kNarrowest;
        least.push_back(breaks ? std::max(kNarrowest, column.longest_word()) : wanted);
    }
    return least;
}

// The lines of the chosen columns. Space beyond the least widths goes to columns of text, from the
// left.
std::string block(const TextTable& table, const Places& chosen, std::vector<std::size_t> widths) {
    std::size_t spare =
        base::kScreenColumns - std::min(base::kScreenColumns, room_of(widths, chosen));
    for (const std::size_t i : chosen) {
        const std::size_t more = std::min(spare, table.columns[i].width() - widths[i]);
        widths[i] += more;
        spare -= more;
    }
    std::string text;
    for (std::size_t row = 0; row < table.columns.front().texts.size(); ++row) {
        std::vector<std::vector<std::string>> cells;
        for (const std::size_t i : chosen)
            cells.push_back(lines_of(table.columns[i].texts[row], widths[i]));
        const std::size_t height =
            std::ranges::max(cells, {}, &std::vector<std::string>::size).size();
        for (std::size_t n = 0; n < height; ++n) {
            for (std::size_t c = 0; c < chosen.size(); ++c)
                text += "  " + padded(n < cells[c].size() ? cells[c][n] : "", widths[chosen[c]],
                                      table.columns[chosen[c]].left);
            text.erase(text.find_last_not_of(' ') + 1);
            text += '\n';
        }
    }
    return text;
}

// Numbers the rows; the number is then the only key.
TextTable numbered(TextTable table) {
    TextColumn numbers{{"row"}, true};
    for (std::size_t row = 1; row < table.columns.front().texts.size(); ++row)
        numbers.texts.push_back(fmt::to_string(row));
    table.columns.insert(table.columns.begin(), std::move(numbers));
    table.keys = 1;
    return table;
}

// A table that is wider than the screen is split into blocks of columns. Each block begins with the
// keys, or with the row's number if keys take more than half a line. Only the last column is
// wrapped.
std::string on_screen(const TextTable& table) {
    Places all(table.columns.size()), keys(table.keys);
    std::iota(all.begin(), all.end(), 0);
    std::iota(keys.begin(), keys.end(), 0);
    std::vector<std::size_t> least = least_widths(table, 0);
    if (keys.size() == all.size() || room_of(least, all) <= base::kScreenColumns)
        return block(table, all, least);
    least = least_widths(table, all.size() - 1);
    if (keys.size() > 1 && 2 * room_of(least, keys) > base::kScreenColumns)
        return on_screen(numbered(table));
    std::string text;
    for (std::size_t next = keys.size(); next < all.size();) {
        Places chosen = keys;
        do chosen.push_back(next++);
        while (next < all.size() &&
               room_of(least, chosen) + 2 + least[next] <= base::kScreenColumns);
        if (!text.empty()) text += '\n';
        text += block(table, chosen, least);
    }
    return text;
}

}  // namespace

std::string text_of(const Frame& frame) {
    if (frame.empty()) return "";
    Footnotes footnotes;
    std::string text = frame.title.empty() ? "" : base::wrapped("", base::one_line(frame.title));
    text += on_screen(table_of(frame, footnotes));
    for (const auto& line : footnotes.lines(frame.notes))
        text += base::wrapped("  ", base::one_line(line));
    return text;
}

}  // namespace ranklab::report
