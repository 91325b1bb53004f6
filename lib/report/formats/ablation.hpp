// Private to this room: the lines of an ablation.
#pragma once

#include <string>

#include "results/run.hpp"

namespace ranklab::report::formats {

/// benchy's summary lines, as its scripts look for them, and what limits the run; "" for other runs.
std::string ablation_lines(const results::Run& run);

}  // namespace ranklab::report::formats
