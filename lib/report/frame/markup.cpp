// A Frame as HTML, Markdown, LaTeX and CSV. All texts are escaped, since a results file is not
// trusted.
#include <fmt/format.h>

#include <cctype>
#include <string_view>
#include <utility>

#include "base/terminal.hpp"
#include "base/text.hpp"
#include "report/frame/frame.hpp"

namespace ranklab::report {
namespace {

constexpr std::size_t kLongest = 300;  // characters of a text in HTML
constexpr std::size_t kMostLines = 4;  // of notes that are not folded

// The text on one line, with names[i] in place of letters[i].
std::string escaped(std::string_view text, std::string_view letters,
                    const std::vector<const char*>& names) {
    std::string out;
    for (const char c : base::one_line(text)) {
        const auto special = letters.find(c);
        out += special == std::string_view::npos ? std::string(1, c) : std::string(names[special]);
    }
    return out;
}

// The row's cells, escaped: texts, and numbers with their intervals and units. Units come from the
// results file, so they are escaped, too.
template <class Escape>
std::vector<std::string> cells_of(const Frame& frame, std::size_t row, const Escape& escape) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < frame.columns.size(); ++i) {
        const Cell& cell = frame.at(row, i);
        const Column& column = frame.columns[i];
        cells.push_back(escape(!cell.is_number() ? cell.text
                               : column.unit.empty()
                                   ? readable(cell, column)
                                   : readable(cell.number, cell.interval, column.unit)));
    }
    return cells;
}

std::string html_cell(const Cell& cell, const Column& column) {
    if (!cell.is_number()) return html_escape(base::shortened(cell.text, kLongest));
    std::string text = fmt::format(
        "<data value=\"{0}\" title=\"{0}{1}\">{2}</data>", exact(cell.number),
        column.unit.empty() || column.unit == "1" ? ""
                                                  : fmt::format(" {}", html_escape(column.unit)),
        html_escape(readable(cell, column)));
    if (const auto range = readable_interval(cell.interval, cell.number, column.unit);
        !range.empty())
        text +=
            fmt::format(" <span class=\"ci\" title=\"{} .. {}\">{}</span>",
                        exact(cell.interval.low), exact(cell.interval.high), html_escape(range));
    return text;
}

std::string html_row(const Frame& frame, std::size_t row, Footnotes& footnotes) {
    std::string text = "<tr>", marks = footnotes.references(frame.rows[row].caveats);
    if (!marks.empty()) marks = " <sup>" + marks + "</sup>";  // follow the first cell's text
    for (std::size_t i = 0; i < frame.columns.size(); ++i) {
        const Cell& cell = frame.at(row, i);
        const bool key = frame.columns[i].is_key();
        text += fmt::format("<{}{}{}>{}{}</{}>", key ? "th" : "td", key ? " scope=\"row\"" : "",
                            key || cell.is_number() ? "" : " class=\"text\"",
                            html_cell(cell, frame.columns[i]), std::exchange(marks, ""),
                            key ? "th" : "td");
    }
    return text + "</tr>\n";
}

std::string markdown_row(const std::vector<std::string>& cells) {
    return "| " + base::join(cells, " | ") + " |\n";
}

// A spreadsheet takes a text that begins with one of these characters for a formula; an apostrophe
// marks it as text. A text with an apostrophe gets a second one, so that a reader may always drop
// the first.
std::string csv_cell(const std::string& raw) {
    std::string field = base::one_line(raw, "\t\r\n");  // keeps these: CSV quotes them
    if (raw.find_first_of("=+-@\t\r\n'") == 0) field.insert(field.begin(), '\'');
    if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
    return fmt::format("\"{}\"", base::join(base::split(field, '"'), "\"\""));
}

}  // namespace

std::string html_escape(std::string_view text) {
    return escaped(text, "&<>\"'", {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"});
}

// A long word (a path, an address) may be broken after its punctuation.
std::string latex_text(std::string_view text) {
    // After \\ of the row before, [ would begin an option, and * belong to the command.
    constexpr std::size_t kLongWord = 16;
    auto words =
        base::split(escaped(text, "&%$#_{}~^\\<>|[*",
                            {"\\&", "\\%", "\\$", "\\#", "\\_", "\\{", "\\}", "\\textasciitilde{}",
                             "\\textasciicircum{}", "\\textbackslash{}", "\\textless{}",
                             "\\textgreater{}", "\\textbar{}", "{[}", "{*}"}),
                    ' ');
    for (auto& word : words) {
        std::string broken;
        for (const char c : word) {
            broken += c;
            if (word.size() > kLongWord && std::string_view("/_.=:,-").find(c) != std::string::npos)
                broken += "\\allowbreak{}";
        }
        word = std::move(broken);
    }
    return base::join(words, " ");
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
    for (std::size_t row = 0; row < frame.rows.size(); ++row)
        text += html_row(frame, row, footnotes);
    text += "</tbody></table></div>\n";
    const auto lines = footnotes.lines(frame.notes);
    const bool folded = lines.size() > kMostLines;
    if (folded) text += fmt::format("<details><summary>{} notes</summary>\n", lines.size());
    for (const auto& line : lines) text += "<p class=\"note\">" + html_escape(line) + "</p>\n";
    return text + (folded ? "</details>\n" : "");
}

std::string markdown_text(const std::string& text) {
    std::string safe;
    for (const char c : base::one_line(text)) {
        if (std::string_view("|\\`*_<>[]{}#!~@&$").find(c) != std::string_view::npos) safe += '\\';
        safe += c;
    }
    return safe;
}

std::string markdown_of(const Frame& frame) {
    if (frame.empty()) return "";
    const bool marked = frame.has_caveats();
    std::vector<std::string> heads, lines;
    for (std::size_t i = 0; i < frame.columns.size(); ++i) {
        heads.push_back(markdown_text(frame.columns[i].title()));
        lines.emplace_back(frame.has_numbers(i) ? "---:" : ":---");
    }
    if (marked) heads.emplace_back("note"), lines.emplace_back(":---");
    std::string text = markdown_row(heads) + markdown_row(lines);
    Footnotes footnotes;
    for (std::size_t row = 0; row < frame.rows.size(); ++row) {
        auto cells = cells_of(frame, row, markdown_text);
        if (marked) cells.push_back(footnotes.references(frame.rows[row].caveats));
        text += markdown_row(cells);
    }
    for (const auto& line : footnotes.lines(frame.notes))
        text += fmt::format("\n{}\n", markdown_text(line));
    return text;
}

// Above kNarrow columns a table spans both columns of an article; a still wider table is scaled.
std::string latex_of(const Frame& frame, std::string label) {
    std::erase_if(label, [](unsigned char c) {
        return std::isalnum(c) == 0 && std::string_view("-_").find(c) == std::string_view::npos;
    });
    constexpr std::size_t kNarrow = 4;
    std::string columns, rows;
    std::vector<std::string> heads;
    for (std::size_t i = 0; i < frame.columns.size(); ++i) {
        columns += frame.has_numbers(i) && !frame.columns[i].is_key() ? "r" : "l";
        heads.push_back(latex_text(frame.columns[i].title()));
    }
    Footnotes footnotes;
    for (std::size_t row = 0; row < frame.rows.size(); ++row) {
        auto cells = cells_of(
            frame, row, [](const auto& text) { return latex_text(text.empty() ? "--" : text); });
        if (const auto marks = footnotes.references(frame.rows[row].caveats); !marks.empty())
            cells.front() += fmt::format("\\textsuperscript{{{}}}", marks);
        rows += base::join(cells, " & ") + " \\\\\n";
    }
    std::string below;
    for (const auto& line : footnotes.lines({}))
        below += fmt::format("\n\\par\\footnotesize {}", latex_text(line));
    return fmt::format(
        "% needs \\usepackage{{booktabs,graphicx}}; (low .. high): 95 % interval\n"
        "\\begin{{{0}}}\n\\sloppy\\footnotesize\n\\caption{{{1}}}\n\\label{{tab:{2}}}\n"
        "\\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{%\n"
        "\\begin{{tabular}}{{{3}}}\n\\toprule\n{4} \\\\\n\\midrule\n{5}\\bottomrule\n"
        "\\end{{tabular}}}}{6}\n\\end{{{0}}}\n",
        heads.size() > kNarrow ? "table*" : "table", latex_text(frame.title), label, columns,
        base::join(heads, " & "), rows, below);
}

std::string csv_of(const Frame& frame) {
    const bool marked = frame.has_caveats();
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
            // No texts among numbers: programs expect one type in a column.
            const bool words = !cell.is_number() && !frame.has_numbers(i);
            cells.push_back(words ? csv_cell(cell.text) : exact(cell.number));
            if (frame.columns[i].interval)
                for (const double end : {cell.interval.low, cell.interval.high})
                    cells.push_back(exact(end));
        }
        if (marked)
            cells.push_back(csv_cell(base::join(sentences_of(frame.rows[row].caveats), "; ")));
        text += base::join(cells, ",") + '\n';
    }
    return text;
}

}  // namespace ranklab::report
