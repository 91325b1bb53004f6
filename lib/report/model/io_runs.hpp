// What one run of a rung of the file-writing ladder stored.
#pragma once

#include <cstdint>
#include <string>

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

}  // namespace ranklab::report::model
