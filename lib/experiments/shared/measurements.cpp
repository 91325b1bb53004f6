#include "experiments/shared/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/numbers.hpp"
#include "options/schema.hpp"
#include "stats/interval.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

using measure::RankSamples;
using results::Measurement;

// Leaves the summary empty. The first `warmup` rows do not count.
Measurement measurement_of(std::string_view name, const std::string& axis,
                           const std::string& reduction, RankSamples all, std::size_t warmup = 0) {
    const auto& quantity = vocabulary::quantity(name);
    const auto counted = all.values.begin() + static_cast<std::ptrdiff_t>(warmup * all.ranks);
    Measurement m;
    m.name = name;
    m.unit = quantity.unit;
    m.kind = quantity.kind;
    m.rank_reduction = reduction;
    m.axis = axis;
    m.columns = all.ranks;
    m.warmup.assign(all.values.begin(), counted);
    all.values.erase(all.values.begin(), counted);
    m.samples = std::move(all.values);
    return m;
}

}  // namespace

Measurement by_rank(std::string_view name, const std::string& axis, RankSamples all,
                    std::size_t warmup) {
    auto m = measurement_of(name, axis, "max", std::move(all), warmup);
    m.summary = stats::summarise(m.largest_of_rows());
    return m;
}

Measurement one_column(std::string_view name, const std::string& axis, const std::string& reduction,
                       std::vector<double> samples, std::size_t warmup) {
    auto m = measurement_of(name, axis, reduction, {1, std::move(samples)}, warmup);
    m.summary = stats::summarise(m.samples);
    return m;
}

Measurement rate(std::string_view name, const std::string& axis, std::span<const double> counts,
                 std::span<const double> costs) {
    RankSamples rates;
    for (std::size_t i = 0; i < costs.size(); ++i) rates.values.push_back(counts[i] / costs[i]);
    auto m = measurement_of(name, axis, "sum", std::move(rates));
    m.summary = stats::summarise_rate(counts, costs);
    return m;
}

RankMeasurements::RankMeasurements(results::Run& run, comm::Communicator& control, int participants,
                                   int most_stored)
    : run_(run), control_(control), stores_each_(control.world_size() <= most_stored) {
    count(participants);
}

void RankMeasurements::count(int participants) {
    participants_ = participants > 0 ? participants : control_.world_size();
}

std::vector<double> RankMeasurements::largest(std::vector<double> mine) const {
    if (!counts()) std::ranges::fill(mine, -HUGE_VAL);
    return measure::largest_of_ranks(control_, std::move(mine));
}

std::vector<double> RankMeasurements::sums(std::vector<double> mine) const {
    if (!counts()) std::ranges::fill(mine, 0);
    return measure::sums_of_ranks(control_, std::move(mine));
}

void RankMeasurements::add(std::string_view name, const std::string& axis,
                           std::span<const double> mine, std::size_t warmup) {
    if (stores_each_) {
        auto all = measure::gather_samples(control_, mine, participants_);
        return run_.measurements.push_back(by_rank(name, axis, std::move(all), warmup));
    }
    RankSamples slowest{1, largest({mine.begin(), mine.end()})};
    run_.measurements.push_back(by_rank(name, axis, std::move(slowest), warmup));
    add_summaries(name, mine.subspan(warmup));
}

bool RankMeasurements::is_any(std::span<const double> mine) const {
    return largest({std::reduce(mine.begin(), mine.end())}).front() > 0;
}

void RankMeasurements::add_means(std::string_view name, const std::string& axis,
                                 std::span<const double> mine, std::span<const double> counts,
                                 std::size_t warmup) {
    auto means = measure::ordered_sums_of_ranks(control_, mine);
    for (std::size_t i = 0; i < means.size(); ++i) means[i] /= counts[i];
    run_.measurements.push_back(one_column(name, axis, "mean", std::move(means), warmup));
}

void RankMeasurements::add_summaries(std::string_view name, std::span<const double> counted) {
    const auto mine = stats::summarise(counted);
    const auto all = measure::gather_columns(
        control_, std::vector{base::real(mine.n), mine.median, mine.mean, mine.min, mine.max});
    for (std::int64_t rank = 0; rank < participants_; ++rank)
        summaries_.add({std::string(name), rank, static_cast<std::int64_t>(all.at(0, rank)),
                        all.at(1, rank), all.at(2, rank), all.at(3, rank), all.at(4, rank)});
}

void RankMeasurements::add_imbalance(double my_cost) {
    const auto all = measure::gather_columns(control_, {&my_cost, 1});
    const auto costs = std::span(all.values).first(participants_);
    run_.measurements.push_back(one_column(vocabulary::kLoadImbalance, "run", "max/mean-1",
                                           {stats::load_imbalance(costs)}));
}

void RankMeasurements::finish() {
    if (summaries_.size() > 0) run_.tables.push_back(std::move(summaries_).table());
}

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

constexpr std::size_t kFewestRows = 6;  // fewer have no interval
constexpr std::size_t kMostRows = 8;    // of the table `statistics`
constexpr double kShareThatMatters = 0.05;
// Only these measurements cause warnings.
constexpr std::array kWholes{vocabulary::kStepTime, vocabulary::kJobTime, vocabulary::kEpochTime,
                             vocabulary::kCallTime};

// Estimates a rate's median from the reciprocals (times), as the rate's summary does.
stats::MedianEstimate estimate_of(const Measurement& m, std::vector<double> counted) {
    if (m.kind != Kind::rate) return stats::estimate_median(counted);
    for (double& value : counted) value = 1 / value;
    auto estimate = stats::estimate_median(counted);
    estimate.value = 1 / estimate.value;
    estimate.ci = {1 / estimate.ci.high, 1 / estimate.ci.low};
    return estimate;
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

// Outliers are more than 3 interquartile ranges below the first or above the third quartile
// (Tukey).
void add_row(results::Rows& table, const Measurement& m, const std::vector<double>& rows,
             const stats::MedianEstimate& estimate) {
    if (table.size() >= kMostRows) return;
    const double lower = stats::quantile(rows, 0.25), upper = stats::quantile(rows, 0.75);
    const double far = 3 * (upper - lower);
    table.add({m.name, std::ssize(rows), estimate.lag1, estimate.effective_n,
               std::string(estimate.method),
               std::ranges::count_if(rows, [&](double row) { return row < lower - far; }),
               std::ranges::count_if(rows, [&](double row) { return row > upper + far; }),
               std::ssize(m.largest_of(m.warmup))});
}

void warn_of_width(results::Run& run, const Measurement& m) {
    const auto& [low, high] = m.summary.ci95;
    const double median = m.summary.median;
    if (!std::isfinite(low) || !std::isfinite(high) || !(median > 0) || high - low < median) return;
    run.warnings.push_back(fmt::format(
        "{}: the 95 % interval is as wide as the value; measure longer (--target-ci 5%)", m.name));
}

void warn_of_dependence(results::Run& run, const Measurement& m, double effective) {
    constexpr double kFew = 10, kFewest = 15;  // below kFewest rows, chance looks like correlation
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
        const auto rows = m.largest_of_rows();  // maxima over ranks
        const auto estimate = estimate_of(m, rows);
        m.summary.ci95 = estimate.ci;
        if (matters(m, run)) add_row(table, m, rows, estimate);
        if (is_whole(m)) warn_of_width(run, m);
        if (is_whole(m)) warn_of_dependence(run, m, estimate.effective_n);
    }
    if (table.size() > 0) run.tables.push_back(std::move(table).table());
}

}  // namespace ranklab::experiments
