#include "report/figures/table_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "report/figures/chart_rows.hpp"
#include "report/model/csv_cell.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::figures {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

constexpr std::size_t kMostRowsOnPaper = 60;
constexpr std::size_t kLongestCell = 200, kLongestCaption = 700;

// What the chart's points say, but for the ideal.
struct FileRows {
    using Cell = FileCell;
    Cell text(const std::string& text) const { return {text}; }
    Cell x(double value) const { return {"", value, {}}; }
    Cell y(const ChartPoint& point) const { return {"", point.y, point.interval}; }
    bool is_listed(const ChartSeries& series) const { return series.look != Look::dashed; }
};

bool has_interval(const FileTable& table, std::size_t column) {
    return std::ranges::any_of(table.rows,
                               [&](const auto& row) { return !std::isnan(row[column].interval.low); });
}

bool is_text(const FileTable& table, std::size_t column) {
    return std::ranges::none_of(table.rows, [&](const auto& row) { return !std::isnan(row[column].value); });
}

std::string csv_text(std::string_view text) {
    return model::csv_cell(one_line(text, kLongestCell));
}

std::string csv_number(double value) {
    return is_drawn(value) ? fmt::format("{}", value) : "";
}

std::string csv_of(const FileTable& table) {
    Texts heads;
    for (std::size_t i = 0; i < table.heads.size(); ++i) {
        heads.push_back(csv_text(table.heads[i]));
        if (has_interval(table, i))
            for (const char* const end : {", 95 % low", ", 95 % high"})
                heads.push_back(csv_text(table.heads[i] + end));
    }
    std::string text = base::join(heads, ",") + "\n";
    for (const auto& row : table.rows) {
        Texts cells;
        for (std::size_t i = 0; i < row.size(); ++i) {
            cells.push_back(std::isnan(row[i].value) ? csv_text(row[i].text) : csv_number(row[i].value));
            if (has_interval(table, i))
                for (const double end : {row[i].interval.low, row[i].interval.high})
                    cells.push_back(csv_number(end));
        }
        text += base::join(cells, ",") + "\n";
    }
    return text;
}

// What LaTeX would take for its own.
std::string tex_text(std::string_view text, std::size_t most = kLongestCell) {
    std::string out;
    for (const char c : one_line(text, most)) {
        switch (c) {
            case '&':
            case '%':
            case '$':
            case '#':
            case '_':
            case '{':
            case '}':
                out += '\\';
                out += c;
                break;
            case '~':
                out += "\\textasciitilde{}";
                break;
            case '^':
                out += "\\textasciicircum{}";
                break;
            case '\\':
                out += "\\textbackslash{}";
                break;
            case '<':
                out += "\\textless{}";
                break;
            case '>':
                out += "\\textgreater{}";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string tex_cell(const FileCell& cell, double divided_by) {
    const auto shown = [&](double value) { return model::number(value / divided_by); };
    if (std::isnan(cell.value)) return tex_text(cell.text.empty() ? "--" : cell.text);
    if (std::isnan(cell.interval.low)) return shown(cell.value);
    return fmt::format("{} [{}, {}]", shown(cell.value), shown(cell.interval.low), shown(cell.interval.high));
}

// As the page has them; the CSV has bytes.
bool in_MiB(const FileTable& table, std::size_t column) {
    const auto* known = vocabulary::find_quantity(table.heads[column]);
    return known != nullptr && unit_for_reading(std::string(known->unit)) != known->unit;
}

std::string tex_row(const Texts& cells) {
    return base::join(cells, " & ") + " \\\\\n";
}

std::string tex_of(const FileTable& table) {
    std::string columns;
    Texts heads;
    for (std::size_t i = 0; i < table.heads.size(); ++i) {
        columns += i == 0 || is_text(table, i) ? "l" : "r";
        const std::string unit = in_MiB(table, i) ? " [MiB]" : "";
        heads.push_back(tex_text(table.heads[i] + unit));
    }
    std::string rows;
    for (const auto& row : table.rows) {
        Texts cells;
        for (std::size_t i = 0; i < row.size(); ++i)
            cells.push_back(tex_cell(row[i], in_MiB(table, i) ? 1024.0 * 1024.0 : 1));
        rows += tex_row(cells);
    }
    return fmt::format(
        "% needs \\usepackage{{booktabs}}; [low, high]: 95 % interval\n"
        "\\begin{{table}}\n\\caption{{{}}}\n\\label{{tab:{}}}\n"
        "\\begin{{tabular}}{{{}}}\n\\toprule\n{}\\midrule\n{}\\bottomrule\n\\end{{tabular}}\n\\end{{table}}"
        "\n",
        tex_text(table.caption, 800), table.name, columns, tex_row(heads), rows);
}

// Of measurements that the page's summary has, those that some group has.
Texts measured(const std::string& command, const std::vector<const model::Group*>& groups) {
    Texts names = vocabulary::shown_at(vocabulary::Shown::summary, command);
    std::erase_if(names, [&](const std::string& name) {
        return std::ranges::none_of(groups,
                                    [&](const model::Group* group) { return group->find(name) != nullptr; });
    });
    return names;
}

FileTable group_table(const std::string& command, const std::vector<const model::Group*>& groups) {
    FileTable table{
        "groups_" + plain_name(command), "Groups of runs of " + command, {"group", "ranks", "runs"}, {}};
    const auto names = measured(command, groups);
    for (const auto& name : names) table.heads.push_back(name);
    const auto titles = model::group_titles(groups);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const model::Group& group = *groups[i];
        table.rows.push_back({{titles[i]},
                              {"", static_cast<double>(group.ranks), {}},
                              {"", static_cast<double>(group.runs.size()), {}}});
        for (const auto& name : names) {
            const model::Estimate found = model::estimate(group, name);
            table.rows.back().push_back({"", found.value, found.ci});
        }
    }
    return table;
}

}  // namespace

FileTable table_of(const Figure& figure) {
    const Chart& chart = figure.chart;
    auto [heads, rows] = chart_rows(chart, FileRows());
    FileTable table{chart.name, chart.title, std::move(heads), std::move(rows)};
    if (const auto caption = plain_text(figure.caption); !caption.empty())
        table.caption += ". " + cut(caption, kLongestCaption);
    return table;
}

std::vector<FileTable> group_tables(const Source& source) {
    model::InOrderMet<std::string, std::vector<const model::Group*>> commands;
    for (const auto& group : source.grouped.groups())
        if (group.valid() && model::has_numbers(group)) commands[group.newest.command].push_back(&group);
    std::vector<FileTable> tables;
    for (const auto& groups : commands.all())
        tables.push_back(group_table(groups.front()->newest.command, groups));
    return tables;
}

std::vector<fs::path> write_table(const FileTable& table, const fs::path& folder) {
    std::vector<fs::path> files{folder / (table.name + ".csv")};
    write_plot_file(files.back(), csv_of(table));
    if (table.rows.size() > kMostRowsOnPaper) return files;
    files.push_back(folder / (table.name + ".tex"));
    write_plot_file(files.back(), tex_of(table));
    return files;
}

}  // namespace ranklab::report::figures
