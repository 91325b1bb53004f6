#include "experiments/shared/verdicts.hpp"

#include "base/error.hpp"

namespace ranklab::experiments {

void fill_verdicts(results::Run& run, const std::vector<Verdict>& verdicts) {
    std::vector<std::string> check, result, detail;
    for (const auto& verdict : verdicts) {
        check.push_back(verdict.check);
        result.push_back(verdict.result);
        detail.push_back(verdict.detail);
        if (verdict.result == "failed") {
            run.warnings.insert(run.warnings.begin(), verdict.detail);
            run.valid = false;
        }
    }
    run.tables.push_back({"verification", {{"check", check}, {"result", result}, {"detail", detail}}});
    if (!run.valid) run.exit_code = static_cast<int>(base::ExitCode::wrong_data);
}

}  // namespace ranklab::experiments
