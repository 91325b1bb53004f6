#include "report/model/step_parts.hpp"

#include "report/model/values.hpp"

namespace ranklab::report::model {

std::vector<StepPart> step_parts(const results::Run& run) {
    const results::Table* table = run.find_table("phases");
    std::vector<StepPart> parts;
    for (std::size_t row = 0; table != nullptr && row < row_count(*table); ++row)
        if (const std::string phase = text_at(*table, "phase", row); phase != "step")
            parts.push_back({phase, number_at(*table, "per_hit_s", row), number_at(*table, "percent", row)});
    return parts;
}

}  // namespace ranklab::report::model
