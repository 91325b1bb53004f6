#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "report/figures/figure.hpp"
#include "report/model/step_parts.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::figures {
namespace {

constexpr std::size_t kMostBars = 16;

using Groups = std::vector<const model::Group*>;

// The newest ones that have what `has` asks for.
template <class Has>
Groups trained(const Source& source, Has has) {
    Groups groups = model::recent_groups(source.grouped, "train", kMostBars);
    std::erase_if(groups, [&](const model::Group* group) { return !group->valid() || !has(group->newest); });
    return groups;
}

// Means over ranks, which add up to the step.
ChartSeries phase_series(const std::string& phase, const Groups& groups) {
    ChartSeries series{phase, Look::points, 0, {}};
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const results::Run& run = groups[i]->newest;
        for (const auto& part : model::step_parts(run)) {
            if (part.phase != phase) continue;
            auto shown = cell_of(run, *run.find_table("phases"), "per_hit_s", part.row);
            append(shown, {fmt::format(" ({} %)", model::fixed(part.percent, 1))});
            series.points.push_back({static_cast<double>(i), part.mean_s, {}, std::move(shown)});
        }
    }
    return series;
}

// Those that a group has, in the order of a step; what lies between them last.
std::vector<std::string> phases_of(const Groups& groups) {
    std::vector<std::string> phases;
    for (const auto* part : vocabulary::parts_of(vocabulary::quantity(vocabulary::kStepTime)))
        phases.emplace_back(part->phase);
    phases.emplace_back("other");
    std::erase_if(phases, [&](const std::string& phase) {
        return std::ranges::none_of(groups, [&](const model::Group* group) {
            const auto parts = model::step_parts(group->newest);
            return std::ranges::find(parts, phase, &model::StepPart::phase) != parts.end();
        });
    });
    return phases;
}

}  // namespace

std::vector<Figure> phase_figures(const Source& source) {
    const auto groups =
        trained(source, [](const results::Run& run) { return !model::step_parts(run).empty(); });
    if (groups.empty()) return {};
    Chart chart{.name = "phases", .title = "Phases of a training step", .x_label = "mean time in a step [s]"};
    const auto titles = model::group_titles(groups);
    for (std::size_t i = 0; i < groups.size(); ++i)
        chart.categories.push_back(model::counted(groups[i]->ranks, "rank") + ": " + titles[i]);
    for (const auto& phase : phases_of(groups)) {
        chart.series.push_back(phase_series(phase, groups));
        chart.series.back().colour = chart.series.size() - 1;
    }
    return {
        {chart,
         {"Means over the ranks and counted steps of each group's newest run (table phases): with `other`, "
          "what lies between the phases, they add up to the mean step, and the percentages to 100."}}};
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
