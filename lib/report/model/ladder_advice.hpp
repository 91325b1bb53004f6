// What a ladder says of how to write on its file system, and what it cannot say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/model/io_ladder.hpp"

namespace ranklab::report::model {

/// What the rows do not say themselves.
struct LadderScope {
    std::string records;                         ///< "100 records of 300 x 300 float64"; "" where unknown
    std::optional<std::string> strategies_left;  ///< not tried, "a, b"; nothing where that was not stored
};
LadderScope scope_of(const results::Run& run);

/// Sentences: which row to take and why, or that the rows do not tell; what was left out of the choice; what
/// it holds for; what was not tried. Verified rows alone are chosen from. None of no rows.
std::vector<std::string> ladder_advice(const std::vector<LadderRow>& rows, const LadderScope& scope);

}  // namespace ranklab::report::model
