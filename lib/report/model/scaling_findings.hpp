// Private to this room: what the rows of a scaling say, and what both its files need.
#pragma once

#include <string>
#include <vector>

#include "report/model/scaling.hpp"

namespace ranklab::report::model {

/// The fastest of each baseline and the groups that did its work, and how much is left at the most ranks of
/// each curve of weak scaling.
void add_findings(Scaling& scaling, const Groups& groups);
/// Speedups and the fastest of ways to do the same work, where no key is a number of ranks or the like.
void compare_ways(Scaling& scaling, const Groups& groups);
/// The best rate of collectives, whose calls belong to no step or job.
void add_best_rate(Scaling& scaling, const Groups& groups);

/// The time that two groups both have: of a step, or of a job; "" where there is none.
std::string common_time(const Groups& groups, const Group& a, const Group& b);
/// T(base) / T(group) of their common time.
stats::RatioEstimate speedup_of(const Groups& groups, const Group& base, const Group& group);
/// Settings that define the work, as against how ranks work together. The surroundings are another matter.
bool is_work(const std::string& key);
/// Names of the factors, but for those that `is_free`, in which two groups differ or one has several.
template <class IsFree>
std::vector<std::string> differing_factors(const Group& a, const Group& b, IsFree is_free) {
    std::set<std::string> names(a.differing.begin(), a.differing.end());
    names.insert(b.differing.begin(), b.differing.end());
    for (const auto* factors : {&a.factors, &b.factors})
        for (const auto& [key, value] : *factors)
            if (a.factor(key) != b.factor(key)) names.insert(key);
    std::erase_if(names, is_free);
    return {names.begin(), names.end()};
}

}  // namespace ranklab::report::model
