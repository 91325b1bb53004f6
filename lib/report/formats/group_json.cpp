#include <algorithm>
#include <cmath>

#include "report/formats/formats.hpp"
#include "report/formats/group_parts.hpp"
#include "report/formats/json_dump.hpp"

namespace ranklab::report::formats {
namespace {

// Not finite numbers are written as null by the library itself.
Json estimate_json(const model::KeyedGroup& group, const std::string& name) {
    const model::Estimate found = model::estimate(group, name);
    return {{"name", name},
            {"unit", found.runs == 0 ? "" : group.find(name)->unit},
            {"runs", found.runs},
            {"interval_over", found.runs == 1 ? "repetitions" : "runs"},
            {"median", found.value},
            {"ci95_low", found.ci.low},
            {"ci95_high", found.ci.high}};
}

Json ratio_json(const stats::RatioEstimate& estimate) {
    if (std::isnan(estimate.ratio)) return nullptr;
    return {{"value", estimate.ratio}, {"ci95_low", estimate.ci.low}, {"ci95_high", estimate.ci.high}};
}

Json cores_json(const model::Cores& cores) {
    return cores.known() ? Json(cores.count) : Json(nullptr);
}

Json group_json(const model::RunGroups& groups, const model::KeyedGroup& group,
                const model::ScalingRow& row) {
    Json key = Json::object(), measurements = Json::array();
    const auto names = groups.keys();
    for (std::size_t i = 0; i < names.size(); ++i) key[names[i]] = group.key[i];
    for (const auto& name : groups.measurements())
        if (group.find(name) != nullptr) measurements.push_back(estimate_json(group, name));
    return {{"key", key},
            {"runs", group.runs},
            {"invalid", group.invalid},
            {"computed_on", cores_json(group.cores.common())},
            {"computed_on_unit", group.cores.common().unit()},
            {"oversubscribed", group.cores.oversubscribed()},
            {"measurements", measurements},
            {"is_base", row.is_base()},
            {"speedup", ratio_json(row.speedup)},
            {"strong_efficiency", ratio_json(row.strong.efficiency)},
            {"weak_efficiency", ratio_json(row.weak.efficiency)},
            {"marks", marks_of(group, row, names)}};
}

}  // namespace

void write_group_json(const model::ChosenRuns& runs, const Grouping& grouping, const model::Sink& sink) {
    const model::RunGroups groups = grouped_runs(runs, grouping);
    const auto sorted = groups.sorted();
    model::GroupScaling scaling;
    if (sorted.size() <= kMostRows) scaling = model::scaling_of(sorted, groups.keys(), runs.loader());
    scaling.rows.resize(sorted.size());
    Json rows = Json::array();
    for (std::size_t i = 0; i < sorted.size(); ++i)
        rows.push_back(group_json(groups, sorted[i], scaling.rows[i]));
    sink(json_line({{"schema", 1},
                    {"group_by", groups.keys()},
                    {"scaled_over", scaling.over},
                    {"efficiency_per", scaling.unit},
                    {"groups", rows},
                    {"best", scaling.best},
                    {"why", scaling.why},
                    {"bases", scaling.bases},
                    {"notes", scaling.notes}}) +
         '\n');
}

}  // namespace ranklab::report::formats
