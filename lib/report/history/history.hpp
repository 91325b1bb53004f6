// Follows the runs of each configuration through changes of software: since when a configuration is
// faster or slower, and what changed (docs/watch.md). Settings, CPU, GPU and the number of nodes
// make a configuration; the names of hosts do not.
#pragma once

#include <string>
#include <vector>

#include "report/figures/figure.hpp"
#include "report/model/chosen_runs.hpp"
#include "stats/change_points.hpp"

namespace ranklab::report::history {

struct HistoryQuery {
    double min_effect = stats::kMinStep;
    std::vector<std::string> measurements = {};  ///< empty: the headline ones of the command
    std::vector<std::string> ignore = {};        ///< keys in which the runs of a series may differ
    bool daily = false;                          ///< names days without a valid run
};

/// One measurement of one configuration.
struct Series {
    std::string configuration, measurement;
    /// A row per segment, the newest last: since, runs, median, ratio to the segment before,
    /// verdict, what changed with it and stayed. Caveats name runs that make no step.
    Frame table;
    figures::Figure figure;
    double worse_by = 0;  ///< how much worse the newest segment is than the one before: 0.05 = 5 %
};

/// Throws OptionError if a word to ignore names no setting or fact.
std::vector<Series> history_of(const model::ChosenRuns& runs, const HistoryQuery& query);

/// In the format text, markdown, csv, or json by docs/schema/history.schema.json.
std::string written(const std::vector<Series>& all, const std::string& format);
/// The series whose newest segment is worse by at least this much, and since when; "" if none is.
std::string worse_by(const std::vector<Series>& all, double threshold);
/// The page's section: the series with the most steps, and a figure of the first series. Empty if
/// the runs are from fewer than 8 days.
figures::Section section_of(const model::ChosenRuns& runs);

}  // namespace ranklab::report::history
