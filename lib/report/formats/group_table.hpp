// Groups of runs as one table: for a terminal, and as Markdown for a README.
#pragma once

#include <string>
#include <vector>

#include "report/model/chosen_runs.hpp"

namespace ranklab::report::formats {

struct Grouping {
    std::vector<std::string> keys;          ///< as of value_of: "ranks", "sync", "host.cpu"
    std::vector<std::string> measurements;  ///< empty: the headline ones of the commands there are
    std::vector<std::string> allow = {};    ///< surroundings that may differ within a group (RunGroups)
};

/// A row a group: how many runs, the median over runs of the runs' medians with its 95 % interval (from 6
/// runs on; of a single run the interval over its repetitions, marked), and where a key is `ranks` speedup
/// and efficiency over the fewest ranks. Invalid runs are left out and counted; the base, what is the same in
/// all runs and what differs inside a group stand below. Runs are read one by one.
void write_group_text(const model::ChosenRuns& runs, const Grouping& grouping, const model::Sink& sink);

/// The same as GitHub's Markdown, with a line that says under what conditions.
void write_group_markdown(const model::ChosenRuns& runs, const Grouping& grouping, const model::Sink& sink);

}  // namespace ranklab::report::formats
