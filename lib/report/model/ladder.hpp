// What a run of `ranklab io` measured, and the ladder: the comparison of several strategies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/frame/frame.hpp"
#include "results/run.hpp"

namespace ranklab::report::model {

class Groups;

/// Whether the run is of one strategy and has a job time. False for a run that holds a ladder.
bool is_strategy_run(const results::Run& run);
/// Ranks that took part, at least 1; worker processes, 0 for strategies that have none.
std::int64_t ranks_of(const results::Run& run);
std::int64_t workers_of(const results::Run& run);
/// "100 records of 300 x 300 float64"
std::string records_text(const results::Run& run);

struct Ladder {
    std::string title = {};
    /// A row per strategy, number of ranks and number of workers. Columns: "strategy" (with the
    /// ranks, or the workers, if a row of that strategy has more than one), "job_time_s", "speedup"
    /// (over row `base`), rates, "verified", and "tier": "as fast" if the row's interval reaches
    /// the interval of the fastest verified row, else "slower".
    Frame table = {};
    std::size_t base = 0;  ///< the baseline strategy's row; the first if that was not measured
    std::vector<Finding> findings = {};

    bool empty() const { return table.empty(); }
};
/// The run's table `ladder`; empty if the run has none. With `groups`, a strategy that several runs
/// of one group measured has their medians, as in every other table.
Ladder ladder_of(const results::Run& run, const Groups* groups = nullptr);
/// The first columns, the fastest row first; with `wide` more columns, and rows in stored order.
Frame frame_of(const Ladder& ladder, bool wide);

}  // namespace ranklab::report::model
