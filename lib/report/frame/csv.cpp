#include <fmt/format.h>

#include <string_view>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "report/frame/frame.hpp"

namespace ranklab::report {
namespace {

// What steers a terminal becomes a blank, as in text; tabs and ends of lines are the format's own.
std::string harmless(std::string_view raw) {
    std::string text;
    while (!raw.empty()) {
        const base::Letter letter = base::first_letter(raw);
        const bool kept = std::string_view("\t\r\n").find(raw.front()) != std::string_view::npos;
        text += letter.good && base::steers(letter.code) && !kept ? " " : letter.shown(raw);
        raw.remove_prefix(letter.bytes);
    }
    return text;
}

}  // namespace

// A spreadsheet takes a text that begins with one of these for a formula. One apostrophe says that it is a
// text; a text that has one of its own gets another, so that to drop the first always gives the text back.
std::string csv_cell(const std::string& raw) {
    std::string field = harmless(raw);
    if (raw.find_first_of("=+-@\t\r\n'") == 0) field.insert(field.begin(), '\'');
    if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
    return fmt::format("\"{}\"", base::join(base::split(field, '"'), "\"\""));
}

std::string csv_of(const Frame& frame) {
    const bool marked = frame.has_doubts();
    std::vector<std::string> cells;
    for (const auto& column : frame.columns) {
        cells.push_back(csv_cell(column.name));
        if (column.interval)
            for (const char* end : {"_low", "_high"}) cells.push_back(csv_cell(column.name + end));
    }
    if (marked) cells.emplace_back("marks");
    std::string text = base::join(cells, ",") + '\n';
    for (std::size_t row = 0; row < frame.rows.size(); ++row) {
        cells.clear();
        for (std::size_t i = 0; i < frame.columns.size(); ++i) {
            const Cell& cell = frame.at(row, i);
            const bool words = !cell.is_number() && !frame.has_numbers(i);  // a column is of one kind
            cells.push_back(words ? csv_cell(cell.text) : exact(cell.number));
            if (frame.columns[i].interval)
                for (const double end : {cell.interval.low, cell.interval.high}) cells.push_back(exact(end));
        }
        std::vector<std::string> marks;
        for (const auto& doubt : frame.rows[row].doubts) marks.push_back(sentence(doubt));
        if (marked) cells.push_back(csv_cell(base::join(marks, "; ")));
        text += base::join(cells, ",") + '\n';
    }
    return text;
}

}  // namespace ranklab::report
