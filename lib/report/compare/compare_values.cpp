#include "report/compare/compare_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::compare {
namespace {

using results::Kind;
using results::Measurement;
using results::Run;

using Names = std::vector<std::string>;

// A run of which nothing could be verified is no evidence; one that never had a table of checks (made by
// another program) is taken at its word.
bool nothing_verified(const Run& run) {
    const results::Table* table = run.find_table("verification");
    const auto* checks = table == nullptr ? nullptr : table->find<std::string>("result");
    if (checks == nullptr || checks->empty()) return false;
    return std::all_of(checks->begin(), checks->end(),
                       [](const std::string& result) { return result == "not verified"; });
}

bool has_value(const Run& run, const std::string& measurement) {
    return std::isfinite(value_of_run(run, measurement));
}

}  // namespace

std::string reason_to_leave_out(const Run& run, bool with_unverified) {
    const auto code = static_cast<base::ExitCode>(run.exit_code);
    // Before `valid`: a run that did not converge may be marked as one whose numbers are not to be used.
    if (code == base::ExitCode::invalid_measurement) return "not converged or cache-tainted";
    if (!run.valid) return "invalid";
    if (run.verified() == "NO") return "verification failed";
    if (code == base::ExitCode::time_limit) return "ended by the time limit";
    // A run below a threshold is a result like any other: without it a regression would hide itself.
    if (run.exit_code != 0 && code != base::ExitCode::below_threshold)
        return fmt::format("exit code {}", run.exit_code);
    if (run.measurements.empty()) return "no measurements (of a ladder or sweep the runs themselves count)";
    return nothing_verified(run) && !with_unverified ? "not verified" : "";
}

Names all_measurements(const std::vector<const Run*>& runs) {
    Names names;
    for (const Run* run : runs) {
        for (const auto& m : run->measurements) {
            const bool known = std::find(names.begin(), names.end(), m.name) != names.end();
            if (!known && has_value(*run, m.name)) names.push_back(m.name);
        }
    }
    return names;
}

Names headline_measurements(const std::string& command, const std::vector<const Run*>& runs) {
    Names names = all_measurements(runs);
    Names chosen = vocabulary::shown_at(vocabulary::Shown::compare, command);
    std::erase_if(chosen, [&](const std::string& name) {
        return std::find(names.begin(), names.end(), name) == names.end();
    });
    if (!chosen.empty()) return chosen;
    std::erase_if(names, [&](const std::string& name) {
        return std::none_of(runs.begin(), runs.end(), [&](const Run* run) {
            const Measurement* m = run->find(name);
            return m != nullptr && (m->kind == Kind::cost || m->kind == Kind::rate);
        });
    });
    return names;
}

Direction direction_of(const Measurement& m) {
    switch (vocabulary::better_of(m.name, m.kind)) {
        case vocabulary::Better::less:
            return Direction::lower;
        case vocabulary::Better::more:
            return Direction::higher;
        case vocabulary::Better::neither:
            break;
    }
    return Direction::none;
}

double value_of_run(const Run& run, const std::string& measurement) {
    // A median over epochs would be that of a half-trained model.
    const results::Table* epochs = run.find_table("epochs");
    const auto* values = epochs == nullptr ? nullptr : epochs->find<double>(measurement);
    if (values != nullptr && !values->empty() && std::isfinite(values->back())) return values->back();
    const double median = run.median(measurement);
    return std::isfinite(median) ? median : stats::kNone;
}

}  // namespace ranklab::report::compare
