// Private to this room: what makes the step of one group shorter than that of another.
#pragma once

#include <string>
#include <string_view>

#include "report/model/groups.hpp"

namespace ranklab::report::model {

/// As a sentence calls it: "the base", "mode = ddp, ranks = 2".
struct NamedGroup {
    const KeyedGroup& group;
    std::string name;
};

/// Of several runs from the least to the most median; NaN of fewer, or where they lack the measurement.
stats::Interval run_range(const RunGroup& group, std::string_view measurement);

/// The phase of the step by which the first gains most: "why: ..."; "" where the runs stored no phases, where
/// the first is not faster, or where an interval, or some runs' range, meets the other's.
std::string why_faster(const NamedGroup& fast, const NamedGroup& slow);

}  // namespace ranklab::report::model
