// Samples become measurements.
#pragma once

#include <string>
#include <vector>

#include "measure/gather.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// A column per rank: the summary is of the maximum over ranks in each counted row.
results::Measurement by_rank(const std::string& name, const std::string& unit, results::Kind kind,
                             const std::string& axis, const measure::RankSamples& all,
                             std::size_t warmup = 0);

/// One value a row, already folded over ranks.
results::Measurement one_column(const std::string& name, const std::string& unit, results::Kind kind,
                                const std::string& axis, const std::string& reduction,
                                std::vector<double> samples);

/// counts[i] / costs[i] of each row; the summary's mean is sum over sum.
results::Measurement rate(const std::string& name, const std::string& unit, const std::string& axis,
                          const std::vector<double>& counts, const std::vector<double>& costs);

}  // namespace ranklab::experiments
