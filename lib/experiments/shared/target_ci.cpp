#include "experiments/shared/target_ci.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace ranklab::experiments {
namespace {

constexpr std::int64_t kMostTimesLeast = 20;
constexpr std::int64_t kAsManyAsCome = std::int64_t{1} << 40U;

results::Table looks_table(const measure::Convergence& convergence) {
    results::Rows table("convergence");
    for (const auto& look : convergence.looks())
        table.add({look.samples, look.median, look.low, look.high, 100 * look.half_width,
                   100 * convergence.target(), look.effective_n, look.method});
    return std::move(table).table();
}

}  // namespace

measure::Convergence convergence_of(const TargetCi& target, std::int64_t least) {
    if (!target) return {};
    return {measure::parse_target(*target), least};
}

std::int64_t most_samples(const TargetCi& target, bool has_time_limit, std::int64_t least) {
    if (!target) return least;
    if (has_time_limit) return kAsManyAsCome;
    return least > kAsManyAsCome / kMostTimesLeast ? kAsManyAsCome : least * kMostTimesLeast;
}

void add_convergence(results::Run& run, const measure::Convergence& convergence,
                     const std::string& unit, std::int64_t least) {
    if (!convergence.wanted()) return;
    const std::string found = convergence.text(unit);
    run.tables.push_back(looks_table(convergence));
    run.add_fact(vocabulary::fact::kConverged, vocabulary::yes_or_no(convergence.reached()),
                 "(" + found + ")");
    if (convergence.reached() || !run.valid || convergence.seen() < least) return;
    if (run.exit_code == 0) run.exit_code = static_cast<int>(base::ExitCode::invalid_measurement);
    run.warnings.insert(
        run.warnings.begin(),
        fmt::format(
            "not converged: {}; give more time (--time-limit), or see docs/reducing_variance.md",
            found));
}

}  // namespace ranklab::experiments
