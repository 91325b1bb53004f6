#include <fmt/format.h>

#include <array>
#include <set>

#include "report/figures/figure.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::figures {
namespace {

constexpr std::size_t kMostBars = 16;

struct Phase {
    const char* measurement;
    const char* name;
    std::size_t colour;
};
// In the order of a step. Those of dp share colours with what ddp has in their place.
constexpr std::array kPhases{Phase{"data_time_s", "data", 4},
                             Phase{"copy_time_s", "copy", 6},
                             Phase{"scatter_time_s", "scatter", 6},
                             Phase{"replicate_time_s", "replicate", 3},
                             Phase{"forward_time_s", "forward", 5},
                             Phase{"gather_time_s", "gather", 3},
                             Phase{"backward_time_s", "backward", 0},
                             Phase{"reduce_time_s", "reduce", 1},
                             Phase{"sync_exposed_time_s", "sync, exposed", 1},
                             Phase{"optimizer_time_s", "optimizer", 2}};

std::vector<const model::Group*> trained(const Source& source) {
    std::vector<const model::Group*> groups;
    for (const model::Group* group : model::recent_groups(source.grouped, "train", kMostBars))
        if (group->valid() && group->newest.find("forward_time_s") != nullptr) groups.push_back(group);
    return groups;
}

ChartSeries phase_series(const Phase& phase, const std::vector<const model::Group*>& groups) {
    ChartSeries series{phase.name, Look::points, phase.colour, {}};
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const results::Run& run = groups[i]->newest;
        if (const auto* m = run.find(phase.measurement))
            series.points.push_back(
                {static_cast<double>(i), m->summary.median, {}, {number_of(run, *m, "median")}});
    }
    return series;
}

}  // namespace

std::vector<Figure> phase_figures(const Source& source) {
    const auto groups = trained(source);
    if (groups.empty()) return {};
    Chart chart;
    chart.name = "phases";
    chart.title = "Phases of a training step";
    chart.x_label = "median time in a step [s]";
    const auto titles = model::group_titles(groups);
    for (std::size_t i = 0; i < groups.size(); ++i)
        chart.categories.push_back(counted(groups[i]->ranks, "rank") + ": " + titles[i]);
    for (const auto& phase : kPhases) {
        ChartSeries series = phase_series(phase, groups);
        if (!series.points.empty()) chart.series.push_back(std::move(series));
    }
    Words caption{
        "Medians over the steps of each group's newest run, of the slowest rank in each step and phase; the "
        "slowest may be another rank in each phase, so that a bar may be longer than the step."};
    const char* separator = " ";
    for (const auto& phase : kPhases) {
        if (groups.back()->newest.find(phase.measurement) == nullptr) continue;
        append(caption, {separator, definition(phase.measurement)});
        separator = ", ";
    }
    append(caption, {"."});
    return {{chart, caption}};
}

std::vector<Figure> message_figures(const Source& source) {
    Chart chart;
    chart.name = "messages";
    chart.title = "Reductions of gradient buckets";
    chart.x_label = "size of the bucket";
    chart.y_label = "transfer [s]";
    chart.log_x = chart.log_y = chart.x_bytes = chart.y_seconds = true;
    std::set<double> sizes;
    std::vector<const model::Group*> used;
    for (const model::Group* group : model::recent_groups(source.grouped, "train", kMostBars))
        if (group->valid() && group->newest.find_table("communication") != nullptr &&
            used.size() < kColours.size())
            used.push_back(group);
    const auto titles = model::group_titles(used);
    for (std::size_t i = 0; i < used.size(); ++i) {
        const results::Run& run = used[i]->newest;
        const results::Table& table = *run.find_table("communication");
        ChartSeries series{fmt::format("{} ranks: {}", used[i]->ranks, titles[i]), Look::points, i, {}};
        for (std::size_t row = 0; row < model::row_count(table); ++row) {
            const double bytes = model::number_at(table, "bytes", row),
                         time = model::number_at(table, "transfer_s", row);
            if (!(bytes > 0) || !(time > 0)) continue;
            sizes.insert(bytes);
            series.points.push_back({bytes, time, {}, cell_of(run, table, "transfer_s", row)});
        }
        if (!series.points.empty()) chart.series.push_back(std::move(series));
    }
    if (sizes.size() < 2) return {};  // one size is no curve
    return {
        {chart,
         {"What the allreduce of a gradient bucket of that size took once all ranks had come: medians over "
          "the counted steps, waiting not included (",
          definition("transfer_s"), ")."}}};
}

}  // namespace ranklab::report::figures
