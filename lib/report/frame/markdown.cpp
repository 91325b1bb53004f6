#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "report/frame/readable.hpp"
#include "report/frame/write.hpp"

namespace ranklab::report {
namespace {

std::string row_of(const std::vector<std::string>& cells) {
    std::string line = "|";
    for (const auto& cell : cells) line += ' ' + cell + " |";
    return line + '\n';
}

std::string cell_of(const Cell& cell, const Column& column) {
    if (!cell.is_number()) return markdown_text(cell.text);
    if (!column.interval) return readable(cell, column);
    return readable(cell.number, cell.interval, column.unit);
}

}  // namespace

// What a results file holds may come from anywhere: no cell ends early, nothing becomes a link or HTML.
std::string markdown_text(const std::string& text) {
    std::string safe;
    for (const char c : base::valid_utf8(base::one_line(text))) {
        if (std::string_view("|\\`*_<>[]{}()#!~@").find(c) != std::string_view::npos) safe += '\\';
        safe += c;
    }
    return safe;
}

std::string markdown_of(const Frame& frame) {
    if (frame.empty()) return "";
    const bool marked = std::ranges::any_of(frame.rows, [](const Row& row) { return !row.doubts.empty(); });
    std::vector<std::string> heads, lines;
    for (std::size_t i = 0; i < frame.columns.size(); ++i) {
        heads.push_back(markdown_text(frame.columns[i].title()));
        lines.emplace_back(frame.has_numbers(i) ? "---:" : ":---");
    }
    if (marked) heads.emplace_back("note"), lines.emplace_back(":---");
    std::string text = row_of(heads) + row_of(lines);
    Footnotes footnotes;
    for (std::size_t row = 0; row < frame.rows.size(); ++row) {
        std::vector<std::string> cells;
        for (std::size_t i = 0; i < frame.columns.size(); ++i)
            cells.push_back(cell_of(frame.at(row, i), frame.columns[i]));
        if (marked) cells.push_back(footnotes.references(frame.rows[row].doubts));
        text += row_of(cells);
    }
    for (const auto& line : footnotes.lines()) text += fmt::format("\n{}\n", markdown_text(line));
    for (const auto& note : frame.notes) text += fmt::format("\n{}\n", markdown_text(note));
    return text;
}

}  // namespace ranklab::report
