#include <fmt/format.h>

#include <string_view>

#include "base/one_line.hpp"
#include "report/frame/readable.hpp"

namespace ranklab::report {
namespace {

std::string row_of(const std::vector<std::string>& cells) {
    std::string line = "|";
    for (const auto& cell : cells) line += ' ' + cell + " |";
    return line + '\n';
}

}  // namespace

// What a results file holds may come from anywhere: no cell ends early, nothing becomes a link or HTML.
std::string markdown_text(const std::string& text) {
    std::string safe;
    for (const char c : base::one_line(text)) {
        if (std::string_view("|\\`*_<>[]{}()#!~@").find(c) != std::string_view::npos) safe += '\\';
        safe += c;
    }
    return safe;
}

std::string markdown_of(const Frame& frame) {
    if (frame.empty()) return "";
    const bool marked = frame.has_doubts();
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
        for (std::size_t i = 0; i < frame.columns.size(); ++i) {
            const Cell& cell = frame.at(row, i);
            const std::string shown = with_interval(cell, frame.columns[i]);
            cells.push_back(cell.is_number() ? shown : markdown_text(shown));
        }
        if (marked) cells.push_back(footnotes.references(frame.rows[row].doubts));
        text += row_of(cells);
    }
    for (const auto& line : footnotes.lines()) text += fmt::format("\n{}\n", markdown_text(line));
    for (const auto& note : frame.notes) text += fmt::format("\n{}\n", markdown_text(note));
    return text;
}

}  // namespace ranklab::report
