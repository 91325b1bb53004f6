// Speedup and parallel efficiency of groups of runs: the one computation behind tables, pages,
// figures and JSON.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "report/frame/frame.hpp"
#include "report/model/groups.hpp"
#include "stats/interval.hpp"

namespace ranklab::report::model {

inline constexpr std::size_t kNoBaseline = std::numeric_limits<std::size_t>::max();

/// A group against its baseline in one kind of scaling.
struct BaselineComparison {
    std::size_t baseline = kNoBaseline;    ///< a group
    double work = 1;                       ///< of all ranks together, over the baseline's
    stats::RatioEstimate efficiency = {};  ///< per core, or GPU; NaN: none

    bool exists() const { return baseline != kNoBaseline; }
};

/// The scaling of one group. Strong: the same work in all; weak: the same on each rank. Rows of the
/// baseline's ranks are both.
struct ScalingRow {
    double width = 0;  ///< how many ranks, threads or workers
    /// Equal for groups that differ only in the width and the corresponding batch.
    std::string curve = {};
    BaselineComparison strong = {}, weak = {};
    stats::RatioEstimate speedup = {};  ///< T(baseline) / T of strong; NaN: none
    bool is_baseline = false;
    std::vector<Caveat> caveats = {};

    bool is_weak() const { return weak.exists() && weak.work != 1; }
    bool is_strong() const { return strong.exists() && !is_weak(); }
};

struct Scaling {
    std::string over;  ///< what is scaled, of the keys: ranks, threads or workers; "": ways of the
                       ///< same work
    std::string unit;  ///< what efficiency is per: "core", "CPU", "GPU", or "core or GPU"
    std::vector<ScalingRow> rows;  ///< one a group
    std::vector<Finding> findings = {};

    bool has_strong() const;
    bool has_weak() const;
};

inline constexpr std::size_t kMostScaled = 200;  ///< more groups are not scaled
/// Scales all groups over the first of the keys ranks, threads and workers. The baseline of a group
/// is the single-device runs whose other keys are the same, except those without meaning on one
/// device; without such runs, the fewest ranks whose other keys are the same. Strong is claimed
/// where the work of all ranks is the same (global-batch-size; files and size of io), weak where
/// that of each rank is (batch-size). Without such a key groups that did the same work are compared
/// with the usual way to do it (mode single, strategy text-loop, sync per-parameter), or with the
/// first one. Intervals are those between runs, from three per side on.
Scaling scaling_of(const Groups& groups);
/// Scales all groups over the key `over`.
Scaling scaling_over(const Groups& groups, const std::string& over);

/// Groups with one baseline that differ only in what is scaled, ascending, the baseline first.
struct Curve {
    std::string title;
    std::vector<std::size_t> groups;
    std::vector<double> widths;
};
std::vector<Curve> curves_of(const Groups& groups, const Scaling& scaling, bool weak);

/// "baseline: mode = single, step time 33.2 ms, 1 core, single-device code".
std::string baseline_note(const Groups& groups, std::size_t base);
/// The groups as a table: keys, runs, cores, speedup, efficiency, the measurements.
Frame frame_of(const Groups& groups, const Scaling& scaling);

/// Adds the fastest of each baseline and the groups that did its work, and the efficiency at the
/// most ranks of each curve of weak scaling.
void add_findings(Scaling& scaling, const Groups& groups);
/// Compares ways to do the same work by speedups and the fastest, where no key is a number of ranks
/// or the like.
void compare_ways(Scaling& scaling, const Groups& groups);
/// The best rate of collectives, whose calls belong to no step or job.
void add_best_rate(Scaling& scaling, const Groups& groups);

/// The time that two groups both have: of a step, or of a job; "" where there is none.
std::string common_time(const Groups& groups, const Group& a, const Group& b);
/// T(base) / T(group) of their common time.
stats::RatioEstimate speedup_of(const Groups& groups, const Group& base, const Group& group);
/// Whether a setting defines the work, unlike those of how ranks work together and the
/// surroundings.
bool is_work(const std::string& key);
/// The names of the factors, except those that `is_free`, in which two groups differ or one has
/// several.
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
