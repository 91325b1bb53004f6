// Private to this room: what figures over training steps share.
#pragma once

#include <string>
#include <vector>

#include "report/figures/figure.hpp"

namespace ranklab::report::figures {

/// Each row's largest, which is the slowest rank's, warm-up rows first.
std::vector<double> rows_of(const results::Run& run, const std::string& measurement);
/// 1, 2, ... last.
std::vector<double> numbers_to(std::size_t last);
/// Of long lines the least and the largest of each piece, so that no peak is lost.
std::vector<ChartPoint> line_points(const std::vector<double>& x, const std::vector<double>& y);

/// Groups of valid training runs with that measurement, the newest first, at most `most`.
std::vector<const model::Group*> newest_trained(const Source& source, std::size_t most,
                                                const char* measurement);

}  // namespace ranklab::report::figures
