// What the rows of a scaling say: the fastest, and how much is left of weak scaling.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/model/scaling.hpp"

namespace ranklab::report::model {

/// Whether its numbers may be compared: valid, and trained together.
bool counts(const Group& group);
/// Which of the rows is best at the measurement, which all of them have, and whether their runs tell.
/// `baseline`: one of the rows, or kNoBaseline.
Finding best_of(const Groups& groups, const std::string& measurement, std::vector<std::size_t> rows,
                std::size_t baseline);
/// Of each baseline and the groups that did its work.
void add_fastest(Scaling& scaling, const Groups& groups);
/// How much is left at the most ranks of each weak baseline's curves.
void add_weak(Scaling& scaling, const Groups& groups);
/// Of points that did other work each, such as collectives on more ranks: the best rate.
void add_best_rate(Scaling& scaling, const Groups& groups);

}  // namespace ranklab::report::model
