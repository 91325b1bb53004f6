#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/text.hpp"
#include "report/formats/group_parts.hpp"
#include "report/model/scaling.hpp"
#include "results/rows.hpp"

namespace ranklab::report::formats {
namespace {

using model::KeyedGroup;
using results::Run;

// The time that speedups are made of.
model::Estimate time_of(const KeyedGroup& group) {
    for (const auto& name : model::scaling_times())
        if (const auto found = model::estimate(group, name); found.runs > 0) return found;
    return {};
}

results::Table table_of(const std::vector<KeyedGroup>& groups, const model::GroupScaling& scaling,
                        const std::vector<std::string>& keys) {
    results::Rows table("scaling");
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const auto& [group, row] = std::tie(groups[i], scaling.rows[i]);
        const auto time = time_of(group);
        const auto& cores = group.cores.common();
        table.add({model::key_text(group, keys), scaling.unit,
                   static_cast<std::int64_t>(cores.known() ? cores.count : 0),
                   static_cast<std::int64_t>(group.runs.size()), time.value, time.ci.low, time.ci.high,
                   row.speedup.ratio, row.speedup.ci.low, row.speedup.ci.high,
                   scaling.has_strong() ? row.strong.efficiency.ratio : stats::kNone,
                   scaling.has_weak() ? row.weak.efficiency.ratio : stats::kNone, row.is_base() ? "yes" : "",
                   base::join(marks_of(group, row, keys), "; ")});
    }
    return std::move(table).table();
}

results::Table verdicts_of(const model::GroupScaling& scaling) {
    results::Rows table("verdicts");
    for (std::size_t i = 0; i < scaling.best.size(); ++i) table.add({scaling.best[i], scaling.why[i]});
    return std::move(table).table();
}

model::LoadRun among(const std::vector<Run>& runs) {
    return [&runs](const std::string& id) { return *std::ranges::find(runs, id, &Run::id); };
}

}  // namespace

std::vector<results::Table> scaling_tables(const std::vector<Run>& runs,
                                           const std::vector<std::string>& keys) {
    if (keys.empty()) return {};
    model::RunGroups groups(keys, {});
    for (const auto& run : runs) groups.add(run);
    const auto sorted = groups.sorted();
    const auto scaling = model::scaling_of(sorted, groups.keys(), among(runs));
    if (scaling.over.empty() || sorted.empty()) return {};
    return {table_of(sorted, scaling, groups.keys()), verdicts_of(scaling)};
}

}  // namespace ranklab::report::formats
