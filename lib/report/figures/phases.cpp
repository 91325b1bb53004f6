#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "report/figures/figure.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::figures {
namespace {

constexpr std::size_t kMostBars = 16;

using Groups = std::vector<const model::Group*>;
using Phase = const vocabulary::Quantity*;

// "sync exposed" of sync_exposed_time_s.
std::string name_of(Phase phase) {
    std::string name(phase->name.substr(0, phase->name.rfind("_time")));
    std::ranges::replace(name, '_', ' ');
    return name;
}

// The newest ones that have what `has` asks for.
template <class Has>
Groups trained(const Source& source, Has has) {
    Groups groups = model::recent_groups(source.grouped, "train", kMostBars);
    std::erase_if(groups, [&](const model::Group* group) { return !group->valid() || !has(group->newest); });
    return groups;
}

ChartSeries phase_series(Phase phase, const Groups& groups) {
    ChartSeries series{name_of(phase), Look::points, 0, {}};
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const results::Run& run = groups[i]->newest;
        if (const auto* m = run.find(phase->name))
            series.points.push_back(
                {static_cast<double>(i), m->summary.median, {}, {number_of(run, *m, "median")}});
    }
    return series;
}

}  // namespace

std::vector<Figure> phase_figures(const Source& source) {
    const auto phases = vocabulary::parts_of(vocabulary::quantity(vocabulary::kStepTime));
    const auto groups = trained(source, [&](const results::Run& run) {
        return std::ranges::any_of(phases, [&](Phase phase) { return run.find(phase->name) != nullptr; });
    });
    if (groups.empty()) return {};
    Chart chart{
        .name = "phases", .title = "Phases of a training step", .x_label = "median time in a step [s]"};
    const auto titles = model::group_titles(groups);
    for (std::size_t i = 0; i < groups.size(); ++i)
        chart.categories.push_back(model::counted(groups[i]->ranks, "rank") + ": " + titles[i]);
    Words caption{
        "Medians over the steps of each group's newest run, of the slowest rank in each step and phase; the "
        "slowest may be another rank in each phase, so that a bar may be longer than the step."};
    const char* separator = " ";
    for (Phase phase : phases) {
        ChartSeries series = phase_series(phase, groups);
        if (series.points.empty()) continue;
        series.colour = chart.series.size();
        chart.series.push_back(std::move(series));
        append(caption, {std::exchange(separator, ", "), definition(phase->name)});
    }
    append(caption, {"."});
    return {{chart, caption}};
}

std::vector<Figure> message_figures(const Source& source) {
    Chart chart{.name = "messages",
                .title = "Reductions of gradient buckets",
                .x_label = "size of the bucket",
                .y_label = "transfer [s]",
                .log_x = true,
                .log_y = true,
                .x_bytes = true,
                .y_seconds = true};
    const std::string time_column(vocabulary::kTransferTime);
    std::set<double> sizes;
    Groups used =
        trained(source, [](const results::Run& run) { return run.find_table("communication") != nullptr; });
    if (used.size() > kColours.size()) used.resize(kColours.size());
    const auto titles = model::group_titles(used);
    for (std::size_t i = 0; i < used.size(); ++i) {
        const results::Run& run = used[i]->newest;
        const results::Table& table = *run.find_table("communication");
        ChartSeries series{fmt::format("{} ranks: {}", used[i]->ranks, titles[i]), Look::points, i, {}};
        for (std::size_t row = 0; row < model::row_count(table); ++row) {
            const double bytes = model::number_at(table, "bytes", row),
                         time = model::number_at(table, time_column, row);
            if (!(bytes > 0) || !(time > 0)) continue;
            sizes.insert(bytes);
            series.points.push_back({bytes, time, {}, cell_of(run, table, time_column, row)});
        }
        if (!series.points.empty()) chart.series.push_back(std::move(series));
    }
    if (sizes.size() < 2) return {};  // one size is no curve
    return {
        {chart,
         {"What the allreduce of a gradient bucket of that size took once all ranks had come: medians over "
          "the counted steps, waiting not included (",
          definition(time_column), ")."}}};
}

}  // namespace ranklab::report::figures
