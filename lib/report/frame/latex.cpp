#include <fmt/format.h>

#include "base/text.hpp"
#include "report/frame/readable.hpp"

namespace ranklab::report {
namespace {

// What LaTeX would take for its own.
std::string latex_text(std::string_view text) {
    return escaped(text, "&%$#_{}~^\\<>",
                   {"\\&", "\\%", "\\$", "\\#", "\\_", "\\{", "\\}", "\\textasciitilde{}",
                    "\\textasciicircum{}", "\\textbackslash{}", "\\textless{}", "\\textgreater{}"});
}

}  // namespace

std::string latex_of(const Frame& frame, const std::string& label) {
    std::string columns, rows;
    std::vector<std::string> heads;
    for (std::size_t i = 0; i < frame.columns.size(); ++i) {
        columns += frame.has_numbers(i) && !frame.columns[i].key ? "r" : "l";
        heads.push_back(latex_text(frame.columns[i].title()));
    }
    Footnotes footnotes;
    for (std::size_t row = 0; row < frame.rows.size(); ++row) {
        std::vector<std::string> cells;
        for (std::size_t i = 0; i < frame.columns.size(); ++i) {
            const Cell& cell = frame.at(row, i);
            const std::string shown = with_interval(cell, frame.columns[i]);
            cells.push_back(cell.is_number() ? shown : latex_text(shown.empty() ? "--" : shown));
        }
        if (const auto marks = footnotes.references(frame.rows[row].doubts); !marks.empty())
            cells.front() += fmt::format("\\textsuperscript{{{}}}", marks);
        rows += base::join(cells, " & ") + " \\\\\n";
    }
    std::string below;
    for (const auto& line : footnotes.lines())
        below += fmt::format("\n\\par\\footnotesize {}", latex_text(line));
    return fmt::format(
        "% needs \\usepackage{{booktabs}}; (low .. high): 95 % interval\n"
        "\\begin{{table}}\n\\caption{{{}}}\n\\label{{tab:{}}}\n"
        "\\begin{{tabular}}{{{}}}\n\\toprule\n{} "
        "\\\\\n\\midrule\n{}\\bottomrule\n\\end{{tabular}}{}\n\\end{{table}}"
        "\n",
        latex_text(frame.title), label, columns, base::join(heads, " & "), rows, below);
}

}  // namespace ranklab::report
