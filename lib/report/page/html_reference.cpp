#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/model/reference.hpp"
#include "report/page/html_sections.hpp"
#include "report/page/html_text.hpp"

namespace ranklab::report::page {
namespace {

constexpr std::size_t kMostFigures = 4;
constexpr std::size_t kMostOurs = 4;  // groups beside one published figure

std::string published_html(const model::Reference& row) {
    return fmt::format(
        "<data value=\"{0}\" data-value=\"{0}\" data-reference=\"{1}\" title=\"{0} {2}, "
        "published\">{0}</data>",
        row.value, escape(row.experiment, 200), escape(row.unit, 20));
}

// Our groups that are the same experiment and measured the same quantity, the newest last.
std::vector<const model::Group*> ours_of(const model::Reference& row, const PageInput& input) {
    std::vector<const model::Group*> ours;
    for (const model::Group* group : recent_groups(input.campaign, "", 500))
        if (group->valid > 0 && group->newest.find(row.quantity) != nullptr &&
            model::is_same_experiment(row, group->newest))
            ours.push_back(group);
    if (ours.size() > kMostOurs) ours.erase(ours.begin(), ours.end() - kMostOurs);
    return ours;
}

struct Pair {
    const model::Reference* row;
    std::vector<const model::Group*> ours;
};

std::vector<Pair> pairs_of(const PageInput& input) {
    std::vector<Pair> pairs;
    for (const auto& row : input.references.rows)
        if (auto ours = row.same_as.empty() ? std::vector<const model::Group*>() : ours_of(row, input);
            !ours.empty())
            pairs.push_back({&row, std::move(ours)});
    return pairs;
}

Figure figure_of(const std::string& quantity, const std::vector<Pair>& pairs) {
    figures::Chart chart;
    chart.name = "reference_" + anchor(quantity);
    chart.title = "Published and ours: " + quantity;
    chart.x_label = fmt::format("{} [{}]", quantity, pairs.front().row->unit);
    figures::ChartSeries published{"published, other hardware", figures::Look::points, 6, {}},
        ours{"ours", figures::Look::points, 0, {}};
    double low = INFINITY, high = 0;
    const auto add = [&](figures::ChartSeries& series, const std::string& name, figures::ChartPoint point) {
        point.x = static_cast<double>(chart.categories.size());
        low = std::min(low, point.y);
        high = std::max(high, point.y);
        chart.categories.push_back(name);
        series.points.push_back(std::move(point));
    };
    for (const auto& pair : pairs) {
        add(published, "published: " + pair.row->experiment,
            {0, pair.row->value, {}, published_html(*pair.row)});
        for (const model::Group* group : pair.ours) {
            const model::Estimate found = model::estimate(*group, quantity);
            add(ours, "ours: run " + group->newest.id,
                {0, found.value, found.ci, estimate_html(*group, quantity)});
        }
    }
    chart.log_x = high > 20 * low;
    if (chart.log_x) chart.x_label += ", logarithmic";
    chart.series = {published, ours};
    return {chart,
            "The same model, data and strategy on <strong>other hardware</strong>: the conditions stand in "
            "the table below. "
            "What was published has no interval."};
}

std::string pair_row(const Pair& pair, const PageInput& input) {
    const model::Reference& row = *pair.row;
    std::string ours;
    for (const model::Group* group : pair.ours)
        ours += fmt::format("{}{}<br><span class=\"unit\">{}</span>", ours.empty() ? "" : "<br>",
                            estimate_html(*group, row.quantity),
                            run_link(input, *group, escape(group->newest.id)));
    return fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"text\">{} <span "
        "class=\"unit\">[{}]</span></td><td>{}</td><td>{}</td><td "
        "class=\"text long\">{}</td><td class=\"text long\">{}</td></tr>\n",
        escape(row.experiment, 120), definition_link(row.quantity), escape(row.unit, 20), published_html(row),
        ours, escape(row.conditions, 300),
        escape(row.note + (row.note.empty() ? "" : ". ") + row.document, 500));
}

std::string all_rows(const model::References& references) {
    std::string rows;
    for (const auto& row : references.rows)
        rows += fmt::format(
            "<tr><th scope=\"row\">{}</th><td class=\"text\">{} <span "
            "class=\"unit\">[{}]</span></td><td>{}</td><td "
            "class=\"text long\">{}</td><td class=\"text long\">{}</td></tr>\n",
            escape(row.experiment, 120), escape(row.quantity, 80), escape(row.unit, 20), published_html(row),
            escape(row.conditions, 300), escape(row.source + (row.note.empty() ? "" : "; " + row.note), 400));
    return rows;
}

std::string documents_of(const model::References& references) {
    std::string items;
    std::string last;
    for (const auto& row : references.rows) {
        if (row.document != last) items += fmt::format("<li>{}</li>", escape(row.document, 300));
        last = row.document;
    }
    return "<ul>" + items + "</ul>\n";
}

}  // namespace

std::vector<Figure> reference_figures(const PageInput& input) {
    std::map<std::string, std::vector<Pair>> quantities;
    for (auto& pair : pairs_of(input)) {
        auto& pairs = quantities[pair.row->quantity];
        if (pairs.size() < kMostFigures) pairs.push_back(std::move(pair));
    }
    std::vector<Figure> figures;
    for (const auto& [quantity, pairs] : quantities)
        if (figures.size() < kMostFigures) figures.push_back(figure_of(quantity, pairs));
    return figures;
}

std::string reference_html(const PageInput& input) {
    std::string text;
    for (const auto& problem : input.references.problems)
        text += fmt::format("<p class=\"bad\">{}</p>\n", escape(problem, 500));
    if (input.references.rows.empty()) return text;
    std::string rows;
    for (const auto& pair : pairs_of(input)) rows += pair_row(pair, input);
    if (rows.empty()) {
        text += "<p>No run here is the same experiment as one that was published.</p>\n";
    } else {
        text +=
            "<div class=\"scroll\"><table><thead><tr><th>experiment</th><th "
            "class=\"text\">quantity</th><th>published</th><th>ours</th><th "
            "class=\"text\">its conditions</th><th class=\"text\">note</th></tr></thead><tbody>" +
            rows + "</tbody></table></div>\n";
    }
    return text + fmt::format(
                      "<details><summary>All {} published figures</summary>\n{}<div "
                      "class=\"scroll\"><table><thead><tr><th>experiment</th><th "
                      "class=\"text\">quantity</th><th>value</th><th class=\"text\">conditions</th><th "
                      "class=\"text\">source, "
                      "note</th></tr></thead><tbody>{}</tbody></table></div></details>\n",
                      input.references.rows.size(), documents_of(input.references),
                      all_rows(input.references));
}

}  // namespace ranklab::report::page
