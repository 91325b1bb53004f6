#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/one_line.hpp"
#include "base/wrap.hpp"
#include "report/frame/readable.hpp"
#include "report/frame/text_table.hpp"
#include "report/frame/write.hpp"

namespace ranklab::report {
namespace {

constexpr std::size_t kLongestCell = 40;

bool has_intervals(const Frame& frame, std::size_t column) {
    return frame.columns[column].interval && std::ranges::any_of(frame.rows, [&](const Row& row) {
               return column < row.cells.size() && std::isfinite(row.cells[column].interval.low);
           });
}

std::string shown(const Cell& cell, const Column& column) {
    const std::string text = base::one_line(readable(cell, column));
    return column.key ? base::shortened(text, kLongestCell) : text;
}

// The marks stand behind the keys, so that each block of columns has them.
struct Layout {
    std::vector<std::string> heads;
    std::size_t keys = 0;
};

Layout layout_of(const Frame& frame, bool marked) {
    Layout layout;
    const auto add_marks = [&] {
        if (marked && layout.keys == layout.heads.size()) layout.heads.emplace_back("<note"), ++layout.keys;
    };
    for (std::size_t i = 0; i < frame.columns.size(); ++i) {
        const Column& column = frame.columns[i];
        if (!column.key) add_marks();
        layout.heads.push_back(fmt::format("{}{}", frame.has_numbers(i) ? "" : "<", column.title()));
        if (column.key) ++layout.keys;
        if (has_intervals(frame, i)) layout.heads.emplace_back("+95% interval");
    }
    return layout;
}

std::vector<std::string> cells_of(const Frame& frame, std::size_t row, bool marked,
                                  const std::string& marks) {
    std::vector<std::string> cells;
    bool placed = !marked;
    for (std::size_t i = 0; i < frame.columns.size(); ++i) {
        const Column& column = frame.columns[i];
        if (!placed && !column.key) placed = true, cells.push_back(marks);
        const Cell& cell = frame.at(row, i);
        cells.push_back(shown(cell, column));
        if (has_intervals(frame, i))
            cells.push_back(readable_interval(cell.interval, cell.number, column.unit));
    }
    return cells;
}

}  // namespace

std::string text_of(const Frame& frame) {
    if (frame.empty()) return "";
    const bool marked = std::ranges::any_of(frame.rows, [](const Row& row) { return !row.doubts.empty(); });
    const Layout layout = layout_of(frame, marked);
    TextTable table(layout.heads, std::max<std::size_t>(1, layout.keys));
    Footnotes footnotes;
    for (std::size_t row = 0; row < frame.rows.size(); ++row)
        table.add(cells_of(frame, row, marked, footnotes.references(frame.rows[row].doubts)));
    std::string text = frame.title.empty() ? "" : base::wrapped("", base::one_line(frame.title));
    text += table.text();
    for (const auto& line : footnotes.lines()) text += base::wrapped("  ", base::one_line(line));
    for (const auto& note : frame.notes) text += base::wrapped("  ", base::one_line(note));
    return text;
}

}  // namespace ranklab::report
