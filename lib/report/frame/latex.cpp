#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "report/frame/readable.hpp"
#include "report/frame/write.hpp"

namespace ranklab::report {
namespace {

// What LaTeX would take for its own.
std::string escaped(std::string_view text) {
    static constexpr std::array<std::pair<char, const char*>, 12> kSpecial{{{'&', "\\&"},
                                                                            {'%', "\\%"},
                                                                            {'$', "\\$"},
                                                                            {'#', "\\#"},
                                                                            {'_', "\\_"},
                                                                            {'{', "\\{"},
                                                                            {'}', "\\}"},
                                                                            {'~', "\\textasciitilde{}"},
                                                                            {'^', "\\textasciicircum{}"},
                                                                            {'\\', "\\textbackslash{}"},
                                                                            {'<', "\\textless{}"},
                                                                            {'>', "\\textgreater{}"}}};
    std::string out;
    for (const char c : base::one_line(text)) {
        const auto special = std::ranges::find(kSpecial, c, &std::pair<char, const char*>::first);
        out += special == kSpecial.end() ? std::string(1, c) : std::string(special->second);
    }
    return out;
}

std::string cell_of(const Cell& cell, const Column& column) {
    if (!cell.is_number()) return escaped(cell.text.empty() ? "--" : cell.text);
    return column.interval ? readable(cell.number, cell.interval, column.unit) : readable(cell, column);
}

std::string row_of(const std::vector<std::string>& cells) {
    return base::join(cells, " & ") + " \\\\\n";
}

}  // namespace

std::string latex_of(const Frame& frame, const std::string& label) {
    std::string columns, rows;
    std::vector<std::string> heads;
    for (std::size_t i = 0; i < frame.columns.size(); ++i) {
        columns += frame.has_numbers(i) && !frame.columns[i].key ? "r" : "l";
        heads.push_back(escaped(frame.columns[i].title()));
    }
    Footnotes footnotes;
    for (std::size_t row = 0; row < frame.rows.size(); ++row) {
        std::vector<std::string> cells;
        for (std::size_t i = 0; i < frame.columns.size(); ++i)
            cells.push_back(cell_of(frame.at(row, i), frame.columns[i]));
        if (const auto marks = footnotes.references(frame.rows[row].doubts); !marks.empty())
            cells.front() += fmt::format("\\textsuperscript{{{}}}", marks);
        rows += row_of(cells);
    }
    std::string below;
    for (const auto& line : footnotes.lines())
        below += fmt::format("\n\\par\\footnotesize {}", escaped(line));
    return fmt::format(
        "% needs \\usepackage{{booktabs}}; (low .. high): 95 % interval\n"
        "\\begin{{table}}\n\\caption{{{}}}\n\\label{{tab:{}}}\n"
        "\\begin{{tabular}}{{{}}}\n\\toprule\n{}\\midrule\n{}\\bottomrule\n\\end{{tabular}}{}\n\\end{{table}}"
        "\n",
        escaped(frame.title), label, columns, row_of(heads), rows, below);
}

}  // namespace ranklab::report
