// Measurements of series that may be too long to be held: short ones become vectors, as in measurements.hpp,
// long ones are streamed from rank 0's temporary files. On other ranks a long one has its shape and nothing
// else: rank 0 stores the run.
#pragma once

#include <string>

#include "experiments/shared/measurements.hpp"
#include "measure/series.hpp"

namespace ranklab::experiments {

/// A column per rank: the summary is of the maximum over ranks in each row from `warmup` on.
results::Measurement by_rank(std::string_view name, const std::string& axis, const measure::RankSeries& all,
                             std::size_t warmup);

/// One value a row; those before `warmup` stand apart.
results::Measurement one_column(std::string_view name, const std::string& axis, const std::string& reduction,
                                const measure::RankSeries& all, std::size_t warmup);

/// counts / cost of each row from `warmup` on, where the cost is the slowest rank's. `counts` has one column,
/// as many rows, and is on this rank where `costs` is.
results::Measurement rate(std::string_view name, const std::string& axis, const measure::RankSeries& counts,
                          const measure::RankSeries& costs, std::size_t warmup);

/// Of a series of one column that is here, from `first` on.
stats::Summary summary_from(const measure::RankSeries& one_column, std::size_t first);

/// The rows' maxima over ranks; no rows where they are not here.
measure::RankSeries max_over_ranks(const measure::RankSeries& series);

}  // namespace ranklab::experiments
