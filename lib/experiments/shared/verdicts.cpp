#include "experiments/shared/verdicts.hpp"

#include "base/error.hpp"
#include "results/rows.hpp"

namespace ranklab::experiments {

void fill_verdicts(results::Run& run, const std::vector<Verdict>& verdicts) {
    results::Rows table("verification");
    for (const auto& [check, result, detail] : verdicts) {
        table.add({check, result, detail});
        if (result != "failed") continue;
        run.warnings.insert(run.warnings.begin(), detail);
        run.valid = false;
    }
    run.tables.push_back(std::move(table).table());
    if (!run.valid) run.exit_code = static_cast<int>(base::ExitCode::wrong_data);
}

}  // namespace ranklab::experiments
