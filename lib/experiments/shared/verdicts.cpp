#include "experiments/shared/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/numbers.hpp"
#include "options/schema.hpp"
#include "stats/interval.hpp"
#include "stats/series.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::experiments {

void fill_verdicts(results::Run& run, const std::vector<CheckResult>& verdicts) {
    results::Rows table("verification");
    for (const auto& [check, outcome, detail] : verdicts) {
        table.add({check, std::string(text_of(outcome)), detail});
        if (outcome != CheckOutcome::failed) continue;
        run.warnings.insert(run.warnings.begin(), detail);
        run.valid = false;
    }
    run.tables.push_back(std::move(table).table());
    if (!run.valid) run.exit_code = static_cast<int>(base::ExitCode::wrong_data);
}

void add_failure(results::Run& run, const base::Failure& failure) {
    const bool decides = run.exit_code == 0 ||
                         run.exit_code == static_cast<int>(base::ExitCode::invalid_measurement);
    if (decides) run.exit_code = static_cast<int>(failure.code);
    run.warnings.insert(decides ? run.warnings.begin() : run.warnings.end(),
                        options::user_message(failure.sentence, failure.settings));
}

namespace {

using results::Kind;
using results::Measurement;

constexpr std::size_t kFewestRows = 6;  // fewer have no interval
constexpr std::size_t kMostRows = 8;    // of the table `statistics`
constexpr double kShareThatMatters = 0.05;
// Only these measurements cause warnings.
constexpr std::array kWholes{vocabulary::kStepTime, vocabulary::kJobTime, vocabulary::kEpochTime,
                             vocabulary::kCallTime};

// Statistics over a measurement's rows; the value of a row is its maximum over ranks.
struct Series {
    stats::MedianEstimate estimate;
    stats::Outliers outliers;
    std::size_t warmup_fixed = 0, warmup_detected = 0;
};

// Estimates a rate's median from the reciprocals (times), as the rate's summary does.
stats::MedianEstimate estimate_of(const Measurement& m, std::vector<double> counted) {
    if (m.kind != Kind::rate) return stats::estimate_median(counted);
    for (double& value : counted) value = 1 / value;
    auto estimate = stats::estimate_median(counted);
    estimate.value = 1 / estimate.value;
    estimate.ci = {1 / estimate.ci.high, 1 / estimate.ci.low};
    return estimate;
}

Series series_of(const Measurement& m) {
    const auto counted = m.largest_of_rows();
    auto all = m.largest_of(m.warmup);
    const std::size_t warmup = all.size();
    all.insert(all.end(), counted.begin(), counted.end());
    return {estimate_of(m, counted), stats::outliers(counted), warmup, stats::warmup_end(all)};
}

bool is_series(const Measurement& m) {
    return m.axis != "run" && m.rows() >= kFewestRows &&
           (m.columns == 1 || m.rank_reduction == "max");
}

bool is_whole(const Measurement& m) {
    return std::find(kWholes.begin(), kWholes.end(), m.name) != kWholes.end();
}

// True for times of whole steps, jobs, epochs and calls, and phases of at least 5 % of them.
bool matters(const Measurement& m, const results::Run& run) {
    if (is_whole(m)) return true;
    const Measurement* whole =
        run.find(m.axis == "step" ? vocabulary::kStepTime : vocabulary::kJobTime);
    return m.kind == Kind::cost && m.unit == "s" && whole != nullptr && whole->axis == m.axis &&
           whole->rows() == m.rows() &&
           m.summary.median >= kShareThatMatters * whole->summary.median;
}

void add_row(results::Rows& table, const Measurement& m, const Series& series) {
    if (table.size() >= kMostRows) return;
    const auto whole = [](std::size_t count) { return static_cast<std::int64_t>(count); };
    const auto& [estimate, outliers, warmup_fixed, warmup_detected] = series;
    table.add({m.name, whole(m.rows()), estimate.lag1, estimate.effective_n,
               std::string(estimate.method), whole(outliers.below), whole(outliers.above),
               whole(warmup_fixed), whole(warmup_detected)});
}

void warn_of_width(results::Run& run, const Measurement& m) {
    const auto& [low, high] = m.summary.ci95;
    const double median = m.summary.median;
    if (!std::isfinite(low) || !std::isfinite(high) || !(median > 0) || high - low < median) return;
    run.warnings.push_back(fmt::format(
        "{}: the 95 % interval is as wide as the value; measure longer (--target-ci 5%)", m.name));
}

void warn_of_dependence(results::Run& run, const Measurement& m, double effective) {
    constexpr double kFew = 10, kFewest = 15;  // fewer independent rows may look correlated, too
    const double n = base::real(m.rows());
    if (n < kFewest || effective >= std::min(kFew, n / 4)) return;
    run.warnings.push_back(
        fmt::format("{}: the {} samples are autocorrelated, worth {:.0f} independent ones; measure "
                    "longer",
                    m.name, m.rows(), effective));
}

}  // namespace

void add_statistics(results::Run& run) {
    results::Rows table("statistics");
    for (Measurement& m : run.measurements) {
        if (m.kind == Kind::ratio && m.rows() > 1) m.summary.mean = stats::kNone;
        if (!is_series(m)) continue;
        const Series series = series_of(m);
        m.summary.ci95 = series.estimate.ci;
        if (matters(m, run)) add_row(table, m, series);
        if (is_whole(m)) warn_of_width(run, m);
        if (is_whole(m)) warn_of_dependence(run, m, series.estimate.effective_n);
    }
    if (table.size() > 0) run.tables.push_back(std::move(table).table());
}

}  // namespace ranklab::experiments
