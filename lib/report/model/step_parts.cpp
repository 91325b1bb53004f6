#include "report/model/step_parts.hpp"

#include <algorithm>

#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::model {
namespace {

std::string_view measurement_of(std::string_view phase) {
    for (const auto* part : vocabulary::parts_of(vocabulary::quantity(vocabulary::kStepTime)))
        if (part->phase == phase) return part->name;
    return {};
}

}  // namespace

std::vector<StepPart> step_parts(const results::Run& run) {
    const results::Table* table = run.find_table("phases");
    std::vector<StepPart> parts;
    for (std::size_t row = 0; table != nullptr && row < row_count(*table); ++row) {
        const std::string phase = text_at(*table, "phase", row);
        if (phase != "step")
            parts.push_back({phase, measurement_of(phase), row, number_at(*table, "per_hit_s", row),
                             number_at(*table, "percent", row)});
    }
    return parts;
}

double share_of_step(const results::Run& run, std::string_view measurement) {
    const auto parts = step_parts(run);
    const auto found = std::ranges::find(parts, measurement, &StepPart::measurement);
    return measurement.empty() || found == parts.end() ? stats::kNone : found->percent;
}

}  // namespace ranklab::report::model
