// Runs as CSV: `#` comment lines, one header, one row a measurement.
#pragma once

#include <string>
#include <vector>

#include "results/run.hpp"

namespace ranklab::report {

/// Quoted by RFC 4180 (lines end in \n); numbers read back to the same double; NaN is an empty field.
std::string runs_csv(const std::vector<results::Run>& runs);

}  // namespace ranklab::report
