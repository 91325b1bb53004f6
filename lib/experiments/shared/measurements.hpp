// Fills a run with measurements (the vocabulary has their units and kinds), checks, failures, and
// statistics of series.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <functional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "measure/samples.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// Up to this many ranks a run stores each rank's samples. Above, it stores each row's maximum over
/// ranks and a summary per rank (table `rank_summaries`). The run's summaries are equal either way.
inline constexpr int kMostRanksStored = 64;

/// Returns the value of each row: a member, or the result of a function of the row.
template <class Rows, class Value>
std::vector<double> column_of(const Rows& rows, Value value) {
    std::vector<double> values;
    values.reserve(rows.size());
    for (const auto& row : rows) values.push_back(static_cast<double>(std::invoke(value, row)));
    return values;
}

/// Adds facts to a section of the run's context: fact("parameters", 1199882).
struct Facts {
    results::Run& run;
    std::string section;

    void operator()(std::string key, const auto& value) const {
        run.context.push_back({section, std::move(key), fmt::format("{}", value)});
    }
};

/// Returns one column per rank or replica, and a summary of the rows' maxima from row `warmup` on.
results::Measurement by_rank(std::string_view name, const std::string& axis,
                             measure::RankSamples all, std::size_t warmup = 0);

/// Returns one column of values already folded over ranks. Rows before `warmup` do not count.
results::Measurement one_column(std::string_view name, const std::string& axis,
                                const std::string& reduction, std::vector<double> samples,
                                std::size_t warmup = 0);

/// Returns the rates counts[i] / costs[i]. Their mean is the sum of counts over the sum of costs.
results::Measurement rate(std::string_view name, const std::string& axis,
                          std::span<const double> counts, std::span<const double> costs);

/// Adds measurements to which each rank contributes a column. Collective: all ranks call the same
/// functions in one order, with equally many rows. Summaries are equal on all ranks; only rank 0
/// has all columns.
class RankMeasurements {
  public:
    /// `participants`: ranks 0 .. participants - 1 count; 0: all ranks.
    RankMeasurements(results::Run& run, comm::Communicator& control, int participants = 0,
                     int most_stored = kMostRanksStored);

    /// Changes the number of ranks that count, for later calls; 0: all ranks.
    void count(int participants);

    /// Return the maximum, or the sum, of each row over ranks.
    std::vector<double> largest(std::vector<double> mine) const;
    std::vector<double> sums(std::vector<double> mine) const;

    /// Adds each rank's column. Summarises the rows' maxima over ranks, from row `warmup` on.
    void add(std::string_view name, const std::string& axis, std::span<const double> mine,
             std::size_t warmup = 0);
    /// Adds `value` of each row.
    template <class Rows, class Value>
    requires std::invocable<Value&, std::ranges::range_reference_t<const Rows&>>
    void add(std::string_view name, const std::string& axis, const Rows& rows, Value value,
             std::size_t warmup = 0) {
        add(name, axis, column_of(rows, value), warmup);
    }
    /// Adds `value` of each row, unless all values of all ranks are 0.
    template <class Rows, class Value>
    void add_if_any(std::string_view name, const std::string& axis, const Rows& rows, Value value,
                    std::size_t warmup) {
        const auto mine = column_of(rows, value);
        if (is_any(mine)) add(name, axis, mine, warmup);
    }
    /// Adds one column of values that are equal on all ranks, already folded by `reduction`.
    template <class Rows, class Value>
    void add_equal(std::string_view name, const std::string& axis, const Rows& rows, Value value,
                   const std::string& reduction, std::size_t warmup = 0) {
        run_.measurements.push_back(
            one_column(name, axis, reduction, column_of(rows, value), warmup));
    }
    /// Adds one column of means: of each row, the sum of `mine` over ranks (in rank order, for
    /// equal bits), divided by the row's count, which is equal on all ranks.
    void add_means(std::string_view name, const std::string& axis, std::span<const double> mine,
                   std::span<const double> counts, std::size_t warmup);
    /// Adds the rate of each counted row: its count, equal on all ranks, divided by the slowest
    /// rank's value in the measurement `cost`, which was added before.
    template <class Rows, class Count>
    void add_rate(std::string_view name, std::string_view cost, const Rows& counted, Count count) {
        const auto& costs = *run_.find(cost);
        run_.measurements.push_back(
            rate(name, costs.axis, column_of(counted, count), costs.largest_of_rows()));
    }
    /// Adds one value per rank.
    void add_of_run(std::string_view name, double mine) { add(name, "run", {&mine, 1}); }
    /// Adds the load imbalance over ranks. `my_cost`: this rank's.
    void add_imbalance(double my_cost);

    /// Called last: adds the table `rank_summaries` if the run has more ranks than it stores.
    void finish();

  private:
    bool is_any(std::span<const double> mine) const;
    bool counts() const { return control_.rank() < participants_; }
    void add_summaries(std::string_view name, std::span<const double> counted);

    results::Run& run_;
    comm::Communicator& control_;
    int participants_ = 0;
    bool stores_each_;
    results::Rows summaries_{"rank_summaries"};
};

using results::CheckOutcome;

struct CheckResult {
    std::string check;
    CheckOutcome outcome = CheckOutcome::not_verified;
    std::string detail;
};

/// Adds the table `verification`. A failed check makes the run invalid (exit code 3), with its
/// detail as the first warning.
void fill_verdicts(results::Run& run, const std::vector<CheckResult>& verdicts);

/// Adds a failure that did not end the run, such as in writing a file besides the results: as a
/// warning, and as the run's exit code unless another failure set one (other than 0 and 7). Called
/// on rank 0, whose exit code becomes the job's.
void add_failure(results::Run& run, const base::Failure& failure);

/// Called once all measurements are added. Gives each measurement of at least 6 rows (axis not
/// "run") an interval that allows for autocorrelation (stats::estimate_median). Adds the table
/// `statistics` for the times of steps, jobs, epochs, calls and longer phases, with outliers, which
/// still count. Warns of a step, job, epoch or call time if its interval is as wide as its value,
/// or its samples are worth few independent ones. Removes means of ratios.
void add_statistics(results::Run& run);

}  // namespace ranklab::experiments
