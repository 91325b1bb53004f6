// The file-writing ladder: the meaning of a run of `ranklab io`, and the rows of several strategies
// with their findings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/frame/frame.hpp"
#include "report/model/conditions.hpp"
#include "results/run.hpp"

namespace ranklab::report::model {

/// Whether it is one strategy's, with a job time: the run that holds the ladder of several is not.
bool is_strategy_run(const results::Run& run);
/// Ranks that took part, at least 1; worker processes, 0 for strategies that have none.
std::int64_t ranks_of(const results::Run& rung);
std::int64_t workers_of(const results::Run& rung);
/// Whether rank 0 writes all of its files, with any number of ranks.
bool writes_on_rank_0(const results::Run& rung);
/// "100 records of 300 x 300 float64"
std::string records_text(const results::Run& run);

/// One row of the table `ladder`; NaN and "" where the table has nothing.
struct LadderRow {
    std::string strategy = {};
    std::string name = {};  ///< with ranks and workers where rows differ in them
    std::int64_t ranks = 1;
    std::int64_t workers = 0;  ///< 0: a strategy without worker processes
    std::int64_t n = 0;        ///< repetitions
    double time_s = stats::kNone;
    stats::Interval interval = {};  ///< 95 % of the median; NaN where there is none (n < 6)
    double speedup = stats::kNone;  ///< over text-loop, or the first row where that was not run
    double write_MiBps = stats::kNone, read_MiBps = stats::kNone, files_per_s = stats::kNone;
    double file_bytes = stats::kNone;
    std::string ceiling = {};
    double percent_of_ceiling = stats::kNone;
    std::string verified = {}, mark = {};
    StoragePlace place = {};
    /// 1: as fast as the fastest verified row within its interval; 2: slower; 0: not known.
    int tier = 0;
};

struct Ladder {
    std::string title;
    std::vector<LadderRow> rows;
    std::size_t base = 0;  ///< the row that speedups are over
    std::vector<Finding> findings = {};
};
/// The run's table `ladder`; no rows where it has none.
Ladder ladder_of(const results::Run& run);
/// Makes a ladder from runs of one strategy each, the newest last: a row for the newest run of each
/// strategy, ranks and workers that has the files, size and surroundings of the last run.
Ladder newest_ladder(const std::vector<results::Run>& runs);

/// The rows as a table, the fastest first; with `wide` in their order, with files/s and ceilings,
/// too.
Frame frame_of(const Ladder& ladder, bool wide);

}  // namespace ranklab::report::model
