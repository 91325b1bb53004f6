// Samples become measurements: name, unit and kind are the vocabulary's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "measure/gather.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// Of that quantity, which the vocabulary knows; without samples.
results::Measurement measurement_of(std::string_view name, const std::string& axis,
                                    const std::string& reduction, std::size_t columns = 1);

/// A column per rank: the summary is of the maximum over ranks in each counted row.
results::Measurement by_rank(std::string_view name, const std::string& axis, const measure::RankSamples& all,
                             std::size_t warmup = 0);

/// One value a row, already folded over ranks.
results::Measurement one_column(std::string_view name, const std::string& axis, const std::string& reduction,
                                std::vector<double> samples);

/// counts[i] / costs[i] of each row; the summary's mean is sum over sum.
results::Measurement rate(std::string_view name, const std::string& axis, const std::vector<double>& counts,
                          const std::vector<double>& costs);

}  // namespace ranklab::experiments
