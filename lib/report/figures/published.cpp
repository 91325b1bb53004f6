#include <fmt/format.h>

#include <cmath>
#include <map>

#include "report/figures/figure.hpp"

namespace ranklab::report::figures {
namespace {

constexpr std::size_t kMostFigures = 4;
constexpr std::size_t kMostOurs = 4;  // groups beside one published figure

struct Pair {
    const model::Reference* row;
    std::vector<const model::Group*> ours;
};

std::vector<Pair> pairs_of(const Source& source) {
    std::vector<Pair> pairs;
    for (const auto& row : source.references.rows)
        if (auto ours = groups_like(row, source.grouped); !ours.empty())
            pairs.push_back({&row, std::move(ours)});
    return pairs;
}

Figure figure_of(const std::string& quantity, const std::vector<Pair>& pairs) {
    Chart chart{.name = "reference_" + plain_name(quantity),
                .title = "Published and ours: " + quantity,
                .x_label = fmt::format("{} [{}]", quantity, pairs.front().row->unit)};
    ChartSeries published{"published, other hardware", Look::points, 6, {}},
        ours{"ours", Look::points, 0, {}};
    double low = INFINITY, high = 0;
    const auto add = [&](ChartSeries& series, const std::string& name, ChartPoint point) {
        point.x = static_cast<double>(chart.categories.size());
        low = std::min(low, point.y);
        high = std::max(high, point.y);
        chart.categories.push_back(name);
        series.points.push_back(std::move(point));
    };
    for (const auto& pair : pairs) {
        add(published, "published: " + pair.row->experiment,
            {0, pair.row->value, {}, {published_number(*pair.row)}});
        for (const model::Group* group : pair.ours)
            add(ours, "ours: run " + group->newest.id, estimate_point(0, *group, quantity));
    }
    chart.log_x = high > 20 * low;
    if (chart.log_x) chart.x_label += ", logarithmic";
    chart.series = {published, ours};
    return {chart,
            {"The same model, data and strategy on ", strong("other hardware"),
             ": the conditions stand in the table below. What was published has no interval."}};
}

}  // namespace

std::vector<const model::Group*> groups_like(const model::Reference& published,
                                             const model::GroupedRuns& grouped) {
    std::vector<const model::Group*> ours;
    if (published.same_as.empty()) return ours;
    for (const model::Group* group : model::recent_groups(grouped, "", 500))
        if (group->valid() && group->newest.find(published.quantity) != nullptr &&
            model::is_same_experiment(published, group->newest))
            ours.push_back(group);
    if (ours.size() > kMostOurs) ours.erase(ours.begin(), ours.end() - kMostOurs);
    return ours;
}

Number published_number(const model::Reference& published) {
    return {published.value,
            {{"reference", cut(published.experiment, 200)}},
            fmt::format(" {}, published", cut(published.unit, 20)),
            true};
}

std::vector<Figure> published_figures(const Source& source) {
    std::map<std::string, std::vector<Pair>> quantities;
    for (auto& pair : pairs_of(source)) {
        auto& pairs = quantities[pair.row->quantity];
        if (pairs.size() < kMostFigures) pairs.push_back(std::move(pair));
    }
    std::vector<Figure> figures;
    for (const auto& [quantity, pairs] : quantities)
        if (figures.size() < kMostFigures) figures.push_back(figure_of(quantity, pairs));
    return figures;
}

}  // namespace ranklab::report::figures
