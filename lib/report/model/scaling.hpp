// Speedup and parallel efficiency of groups of runs. Tables, pages, figures and JSON all use this
// computation.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/frame/frame.hpp"
#include "report/model/groups.hpp"
#include "stats/interval.hpp"

namespace ranklab::report::model {

/// Strong scaling: the same work in total; weak scaling: the same work per rank. A group with as
/// many ranks as its baseline has both.
struct Scaling {
    std::string over = {};  ///< the scaled key: ranks, threads or workers; "": none
    std::string unit = {};  ///< of efficiency, which is per "core", "CPU", "GPU" or "core or GPU"
    /// The groups' table with caveats of the comparisons and columns of the role `scaling`: "width"
    /// (number of ranks, threads or workers), "curve" (equal for groups that differ only in the
    /// width and the batch sizes), "strong_base" and "weak_base" (rows of the baselines),
    /// "strong_work" and "weak_work" (of all ranks, relative to the baseline), "speedup" (T(strong
    /// baseline) / T), "strong_efficiency" and "weak_efficiency" (per core or GPU), "is_base".
    /// Of "speedup", "efficiency" and "weak_efficiency" the columns with a value are shown.
    Frame table = {};
    std::vector<Finding> findings = {};

    /// A cell of the role `scaling`; empty: none.
    const Cell& at(std::size_t group, std::string_view column) const;
    void put(std::size_t group, std::string column, Cell cell);
    double width(std::size_t group) const { return at(group, "width").number; }
    std::optional<std::size_t> baseline(std::size_t group, bool weak) const;
    /// The work relative to the weak baseline; 1 without baseline, and at its number of ranks.
    double weak_work(std::size_t group) const;
    bool is_weak(std::size_t group) const { return weak_work(group) != 1; }
    bool is_baseline(std::size_t group) const { return at(group, "is_base").is_number(); }
    /// Whether the table has this column to show.
    bool shows(std::string_view column) const;
};

inline constexpr std::size_t kMostScaled = 200;  ///< more groups are not scaled
/// Scales all groups over the first of ranks, threads and workers that has several values. A
/// group's baseline is the single-device group with the same other keys (except keys that mean
/// nothing on one device), else the group with the fewest ranks and the same other keys. Scaling is
/// strong if the total work is equal (global-batch-size; files and size of io), weak if the work
/// per rank is (batch-size). Groups that differ in one other key are compared with the usual value
/// of that key. Intervals are between runs, from three runs per side on.
Scaling scaling_of(const Groups& groups);
/// Scales all groups over the key `over`.
Scaling scaling_over(const Groups& groups, const std::string& over);

/// Groups that differ only in the width: the baseline first, then by width.
struct Curve {
    std::string title;
    std::vector<std::size_t> groups;
    std::vector<double> widths;
};
std::vector<Curve> curves_of(const Groups& groups, const Scaling& scaling, bool weak);

/// "baseline: mode = single, step time 33.2 ms, 1 core, single-device code".
std::string baseline_note(const Groups& groups, std::size_t base);
/// Adds the fastest group for each baseline, and the efficiency at the most ranks of each weak
/// curve.
void add_findings(Scaling& scaling, const Groups& groups);
/// Groups that differ in one key, and in settings that follow from it.
struct Comparison {
    std::vector<std::size_t> rows = {};
    std::size_t base = 0;                    ///< the usual value of the key, or the smallest model
    std::string measurement = {};            ///< a time; a rate if batches or files differ
    std::vector<std::size_t> unsummed = {};  ///< over `sync`: groups that sum no gradients
};
using RowNames = std::function<std::string(std::size_t)>;
std::vector<Comparison> comparisons_over(const Groups& groups, const std::string& key);
/// The best row; of models, how much longer each takes than the smallest; what gradient sums cost.
std::vector<Finding> findings_of(const Groups& groups, const Comparison& comparison,
                                 const RowNames& name);
/// Adds the verdicts of comparisons over each key but `scaling.over`; if `over` is empty, also
/// speedups.
void compare_ways(Scaling& scaling, const Groups& groups);

/// The time that both groups measured, of a step or of a job; "" if there is none.
std::string common_time(const Groups& groups, std::size_t a, std::size_t b);
/// T(base) / T(group) in their common time.
stats::RatioEstimate speedup_of(const Groups& groups, std::size_t base, std::size_t group);
/// Whether the setting defines the work, and not how ranks work together.
bool is_work(const std::string& key);
/// Whether the setting is a batch size, of a rank or of all.
bool is_batch(std::string_view key);
/// Whether `name` may differ in a comparison over the setting `key`, since it says how ranks work
/// together, or follows from the key.
bool follows(const std::string& key, const std::string& name);

}  // namespace ranklab::report::model
