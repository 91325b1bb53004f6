// Which groups of runs are points of one scaling series: of training over ranks, of writing over ranks or
// workers.
#pragma once

#include <string>
#include <vector>

#include "report/model/grouped_runs.hpp"
#include "stats/interval.hpp"

namespace ranklab::report::model {

/// What is equal along a series. A single-device run is the base of all that differ from it only in what is
/// between ranks.
struct SeriesKey {
    std::string work, between_ranks;

    void add(const std::string& name, const std::string& value) {
        (is_between_ranks(name) ? between_ranks : work) += name + "=" + value + "\n";
    }
    auto operator<=>(const SeriesKey&) const = default;
};

struct SeriesPoint {
    double width = 1;  ///< ranks, worker processes or threads: what the series is over
    const Group* group = nullptr;
};

/// One work at two or more widths, ascending. The first is the base: the single-device run where there is
/// one; one rank with the code for several is then a second point at 1.
struct Series {
    std::string title;
    std::string over = "rank";  ///< or "worker", "thread"
    std::vector<SeriesPoint> points;
    std::string differing;  ///< what the program chose by the ranks and is not the same at all points

    const Group& base() const { return *points.front().group; }
    /// Of other code than the series' points.
    bool has_single_device_base() const { return over == "rank" && is_single_device(base().newest); }
};

inline constexpr std::size_t kMostSeries = 6;

/// Of runs that say which batch is held. Weak: each rank's stays. Strong: that of all ranks together. All
/// other settings are equal along a series, but those between ranks, which mean nothing to its single-device
/// base, and those that follow from the ranks by default, unless somebody varied them at one width. The
/// series point into `grouped`; at most kMostSeries.
std::vector<Series> training_series(const GroupedRuns& grouped, stats::Scaling scaling);
std::vector<Series> training_series(GroupedRuns&&, stats::Scaling) = delete;
/// Training of the same work on as many ranks, over the compute threads of a rank.
std::vector<Series> thread_series(const GroupedRuns& grouped);
std::vector<Series> thread_series(GroupedRuns&&) = delete;
/// Whether rank 0 writes all of this rung's files, whatever the number of ranks.
bool writes_on_rank_0(const results::Run& rung);
/// The same of one rung's runs. Rungs of rank 0 alone are drawn over nothing.
std::vector<Series> writing_series(const GroupedRuns& grouped);
std::vector<Series> writing_series(GroupedRuns&&) = delete;

}  // namespace ranklab::report::model
