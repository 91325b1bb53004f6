// The file-writing ladder: what one run of a rung stored, and the rows of several.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/model/storage_place.hpp"
#include "results/run.hpp"

namespace ranklab::report::model {

/// A median time with its 95 % interval, which is NaN where there is none (n < 6).
struct TimeWithInterval {
    double median_s = stats::kNone;
    stats::Interval s;
};

/// Whether it is one rung's, with a job time: the run that holds the ladder of several is not.
bool is_rung(const results::Run& run);
TimeWithInterval job_time(const results::Run& rung);
/// Ranks that took part, at least 1; worker processes, 0 for rungs that have none.
std::int64_t ranks_of(const results::Run& rung);
std::int64_t workers_of(const results::Run& rung);
/// Equal numbers of records of equal size.
bool same_records(const results::Run& a, const results::Run& b);
/// "100 records of 300 x 300 float64"
std::string records_text(const results::Run& run);

/// One row of the table `ladder`; NaN and "" where the table has nothing.
struct LadderRow {
    std::string rung;
    std::int64_t ranks = 1;
    std::int64_t workers = 0;  ///< 0: a rung without worker processes
    std::int64_t n = 0;        ///< repetitions
    TimeWithInterval time;
    double speedup = stats::kNone;        ///< over text-loop, or the first row where that was not run
    double over_previous = stats::kNone;  ///< over the row before
    double write_MiBps = stats::kNone;
    double files_per_s = stats::kNone;
    std::string ceiling;
    double percent_of_ceiling = stats::kNone;
    std::string verified;
    std::string mark;  ///< why the row is to be read with care
    double read_MiBps = stats::kNone;
    StoragePlace place;
    stats::Interval speedup_ci;  ///< the widest that both times' intervals allow; none of the base itself
};
/// `of`: the run that holds it. Older programs stored no place beside a row.
std::vector<LadderRow> ladder_rows(const results::Table& table, const results::Run& of = {});

/// The row that speedups are over: text-loop's, or the first. The rows are not empty.
const LadderRow& base_of(const std::vector<LadderRow>& rows);

/// Each row's rung, with its ranks and workers where they are more than one, or the rung has rows of several:
/// "mpi-send, 2 ranks".
std::vector<std::string> ladder_labels(const std::vector<LadderRow>& rows);

struct Ladder {
    std::string title;
    std::vector<LadderRow> rows;
};
/// The newest table `ladder` of the runs; where there is none, a row for the newest run of each rung, ranks
/// and workers that has the newest run's files and size, and its surroundings. No rows where no run is of
/// `io`.
Ladder newest_ladder(const std::vector<results::Run>& runs);

}  // namespace ranklab::report::model
