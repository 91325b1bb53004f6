#include <fmt/format.h>

#include <utility>

#include "base/wrap.hpp"
#include "report/frame/readable.hpp"

namespace ranklab::report {
namespace {

constexpr std::size_t kLongest = 300;  // letters of a cell

std::string cell_of(const Cell& cell, const Column& column) {
    if (!cell.is_number()) return html_escape(base::shortened(cell.text, kLongest));
    std::string text = fmt::format(
        "<data value=\"{0}\" title=\"{0}{1}\">{2}</data>", exact(cell.number),
        column.unit.empty() || column.unit == "1" ? "" : fmt::format(" {}", html_escape(column.unit)),
        html_escape(readable(cell, column)));
    if (const auto range = readable_interval(cell.interval, cell.number, column.unit); !range.empty())
        text += fmt::format(" <span class=\"ci\" title=\"{} .. {}\">{}</span>", exact(cell.interval.low),
                            exact(cell.interval.high), html_escape(range));
    return text;
}

std::string row_of(const Frame& frame, std::size_t row, Footnotes& footnotes) {
    std::string text = "<tr>", marks = footnotes.references(frame.rows[row].doubts);
    if (!marks.empty()) marks = " <sup>" + marks + "</sup>";  // in the first cell
    for (std::size_t i = 0; i < frame.columns.size(); ++i) {
        const Cell& cell = frame.at(row, i);
        const bool key = frame.columns[i].key;
        text += fmt::format("<{}{}{}>{}{}</{}>", key ? "th" : "td", key ? " scope=\"row\"" : "",
                            key || cell.is_number() ? "" : " class=\"text\"", cell_of(cell, frame.columns[i]),
                            std::exchange(marks, ""), key ? "th" : "td");
    }
    return text + "</tr>\n";
}

}  // namespace

std::string html_escape(std::string_view text) {
    return escaped(text, "&<>\"'", {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"});
}

std::string html_of(const Frame& frame) {
    if (frame.empty()) return "";
    std::string text = "<div class=\"scroll\"><table>\n";
    if (!frame.title.empty()) text += "<caption>" + html_escape(frame.title) + "</caption>\n";
    text += "<thead><tr>";
    for (std::size_t i = 0; i < frame.columns.size(); ++i)
        text += fmt::format("<th{}>{}</th>", frame.has_numbers(i) ? "" : " class=\"text\"",
                            html_escape(frame.columns[i].title()));
    text += "</tr></thead><tbody>\n";
    Footnotes footnotes;
    for (std::size_t row = 0; row < frame.rows.size(); ++row) text += row_of(frame, row, footnotes);
    text += "</tbody></table></div>\n";
    for (const auto& line : footnotes.lines()) text += "<p class=\"note\">" + html_escape(line) + "</p>\n";
    for (const auto& note : frame.notes) text += "<p class=\"note\">" + html_escape(note) + "</p>\n";
    return text;
}

}  // namespace ranklab::report
