#include "report/page/html_figure.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>

#include "base/error.hpp"
#include "base/log.hpp"
#include "report/model/values.hpp"
#include "report/page/html_text.hpp"

namespace ranklab::report::page {
namespace {

namespace fs = std::filesystem;

void replace_all(std::string& text, const std::string& what, const std::string& by) {
    std::string out;
    std::size_t from = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, from)) {
        out.append(text, from, at - from).append(by);
        from = at + what.size();
    }
    text = from == 0 ? text : out.append(text, from);
}

// From each `begin` up to and with the next `end`.
void cut_all(std::string& text, const std::string& begin, const std::string& end) {
    for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
        const std::size_t stop = text.find(end, at + begin.size());
        if (stop == std::string::npos) return;
        text.erase(at, stop + end.size() - at);
    }
}

// "#0072b2" as gnuplot's SVG has it: "rgb(  0, 114, 178)".
std::string gnuplot_rgb(const std::string& colour) {
    const auto part = [&](std::size_t at) { return std::stoi(colour.substr(at, 2), nullptr, 16); };
    return fmt::format("rgb({:3d}, {:3d}, {:3d})", part(1), part(3), part(5));
}

std::string mark_of(const figures::Chart& chart, const figures::ChartSeries& series) {
    static constexpr std::array kMarks{"●", "▲", "■", "◆", "▼", "○", "△"};
    if (chart.bars()) return "■";
    if (series.look == figures::Look::line) return "━";
    if (series.look == figures::Look::dashed) return "╌╌";
    return series.look == figures::Look::marks ? "○" : kMarks[figures::colour_index(series.colour)];
}

std::string legend(const figures::Chart& chart) {
    if (chart.series.size() < 2) return "";
    std::string items;
    for (const auto& series : chart.series)
        items +=
            fmt::format("<li><span class=\"s{}\">{}</span> {}</li>", figures::colour_index(series.colour) + 1,
                        mark_of(chart, series), escape(series.title, 120));
    return "<ul class=\"legend\">" + items + "</ul>\n";
}

std::string point_text(const figures::ChartPoint& point) {
    return point.text.empty() ? model::number(point.y) : point.text;
}

std::string xy_table(const figures::Chart& chart) {
    std::string rows;
    for (const auto& series : chart.series) {
        if (series.look == figures::Look::dashed || series.points.size() > 400) continue;
        for (const auto& point : series.points)
            rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n",
                                escape(series.title, 120), model::number(point.x), point_text(point));
    }
    return fmt::format(
        "<table><thead><tr><th>series</th><th>{}</th><th>{}</th></tr></thead><tbody>{}</tbody></table>",
        escape(chart.x_label), escape(chart.y_label), rows);
}

std::string bar_table(const figures::Chart& chart) {
    std::vector<std::map<std::size_t, std::string>> cells(chart.categories.size());
    std::string head, rows;
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        head += fmt::format("<th>{}</th>", escape(chart.series[i].title, 120));
        for (const auto& point : chart.series[i].points)
            cells[static_cast<std::size_t>(point.x)][i] = point_text(point);
    }
    for (std::size_t row = 0; row < cells.size(); ++row) {
        rows += fmt::format("<tr><th scope=\"row\">{}</th>", escape(chart.categories[row], 120));
        for (std::size_t i = 0; i < chart.series.size(); ++i) rows += "<td>" + cells[row][i] + "</td>";
        rows += "</tr>\n";
    }
    return "<table><thead><tr><th></th>" + head + "</tr></thead><tbody>" + rows + "</tbody></table>";
}

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::string inline_svg(const std::string& svg, const std::string& name) {
    const std::size_t box = svg.find("viewBox=\"");
    const std::size_t body = svg.find("<g id=\"gnuplot_canvas\">");
    const std::size_t end = svg.rfind("</svg>");
    if (box == std::string::npos || body == std::string::npos || end == std::string::npos) return "";
    const std::string view = svg.substr(box, svg.find('"', box + 9) + 1 - box);
    std::string text = svg.substr(body, end - body);
    cut_all(text, "<title>", "</title>");
    cut_all(text, "<filter", "</filter>");
    cut_all(text, "<rect x=\"0\" y=\"0\"", "/>");
    cut_all(text, " id=\"gnuplot_", "\"");
    for (const char* const colour : {"black", "gray", "#FFFFFF"})
        replace_all(text, fmt::format(" color=\"{}\"", colour), "");
    replace_all(text, " font-family=\"Arial\"", "");
    replace_all(text, "\"black\"", "\"currentColor\"");
    replace_all(text, "'black'", "'currentColor'");
    for (const char quote : {'\'', '"'})
        replace_all(text, fmt::format("{0}gray{0}", quote),
                    fmt::format("{0}currentColor{0} stroke-opacity={0}.22{0}", quote));
    replace_all(text, gnuplot_rgb("#000000"), "currentColor");
    for (std::size_t i = 0; i < figures::kColours.size(); ++i)
        replace_all(text, gnuplot_rgb(figures::kColours[i]), fmt::format("var(--s{})", i + 1));
    replace_all(text, "xlink:href='#gp", fmt::format("href='#{}-gp", name));
    replace_all(text, "id='gp", fmt::format("id='{}-gp", name));
    replace_all(text, " stroke-linecap=\"butt\" stroke-linejoin=\"miter\"", "");
    cut_all(text, "<g fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.00\">\n</g>", "\n");
    return fmt::format("<svg {} role=\"img\" aria-labelledby=\"cap-{}\">{}</svg>", view, name, text);
}

Drawer::Drawer() {
    std::string name = (fs::temp_directory_path() / "ranklab-report-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) {
        folder_ = name;
    } else {
        why_not_ =
            "no temporary folder could be made, so nothing was drawn; set TMPDIR to one that is writable";
        base::log::warn(why_not_);
    }
}

Drawer::~Drawer() {
    std::error_code ignored;  // nothing depends on it
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

std::string Drawer::without(const std::string& why) {
    if (why_not_.empty()) base::log::warn(why);
    why_not_ = why;
    return "";
}

std::string Drawer::picture(const figures::Chart& chart) {
    if (!why_not_.empty()) return "";
    try {
        const figures::Drawing drawing = figures::prepare_chart(chart, folder_, figures::Medium::page);
        const figures::Drawn drawn = figures::try_draw(drawing);
        if (drawn == figures::Drawn::no_gnuplot)
            return without(
                "gnuplot is not here, so the page has no pictures; install it (Debian: gnuplot-nox) and "
                "repeat: "
                "their numbers are in the page all the same");
        const std::string svg =
            drawn == figures::Drawn::yes ? inline_svg(content_of(drawing.pictures.front()), chart.name) : "";
        if (svg.empty())
            base::log::warn(fmt::format(
                "gnuplot failed on the figure '{}', which the page lacks; its own message says why",
                chart.name));
        return svg;
    } catch (const base::EnvironmentError& error) {
        return without(error.what());
    }
}

std::string Drawer::html(const Figure& figure) {
    const figures::Chart& chart = figure.chart;
    if (chart.empty()) return "";
    const std::string svg = picture(chart);
    const std::string missing =
        fmt::format("<p class=\"missing\">Not drawn: {}. The numbers are below.</p>",
                    escape(why_not_.empty() ? "gnuplot failed on this figure" : why_not_));
    const std::string numbers = !figure.table.empty() ? figure.table
                                : chart.bars()        ? bar_table(chart)
                                                      : xy_table(chart);
    return fmt::format(
        "<figure id=\"fig-{0}\"{7}>\n<h4>{1}</h4>\n{2}\n{3}<figcaption id=\"cap-{0}\">{4}</figcaption>\n"
        "<details{6}><summary>Numbers of this figure</summary><div "
        "class=\"scroll\">{5}</div></details>\n</figure>\n",
        chart.name, escape(chart.title), svg.empty() ? missing : "<div class=\"plot\">" + svg + "</div>",
        legend(chart), figure.caption, numbers, svg.empty() ? " open" : "",
        chart.bars() || chart.wide ? " class=\"broad\"" : "");
}

std::string Drawer::row(const std::vector<Figure>& figures) {
    std::string text;
    for (const auto& figure : figures) text += html(figure);
    const char* const single = figures.size() == 1 ? " single" : "";
    return text.empty() ? "" : fmt::format("<div class=\"figures{}\">\n{}</div>\n", single, text);
}

}  // namespace ranklab::report::page
