// Private to this room: what every form of a table of groups says.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/formats/formats.hpp"
#include "report/model/groups.hpp"
#include "report/model/scaling.hpp"

namespace ranklab::report::formats {

inline constexpr std::size_t kMostRows = 200;  // of groups: more is a list, not a table

/// All runs that are chosen. OptionError as RunGroups throws it.
model::RunGroups grouped_runs(const model::ChosenRuns& runs, const Grouping& grouping);

/// Why a row is to be read with care, a clause each. `keys`: by which the runs are grouped.
std::vector<std::string> marks_of(const model::KeyedGroup& group, const model::ScalingRow& row,
                                  const std::vector<std::string>& keys);

}  // namespace ranklab::report::formats
