// What was checked before any number is believed.
#pragma once

#include <string>
#include <vector>

#include "results/run.hpp"

namespace ranklab::experiments {

inline constexpr const char* kDoesNotApply = "does not apply";

struct Verdict {
    std::string check;
    std::string result;  ///< "passed", "failed", "not verified" or kDoesNotApply
    std::string detail;
};

/// The table of what was verified; a failed check makes the run invalid (exit code 3), with its reason as a
/// warning.
void fill_verdicts(results::Run& run, const std::vector<Verdict>& verdicts);

}  // namespace ranklab::experiments
