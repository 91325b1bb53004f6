#include "report/model/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/frame/readable.hpp"
#include "report/model/baselines.hpp"
#include "report/model/scaling_findings.hpp"
#include "report/model/values.hpp"
#include "stats/run_ratio.hpp"

namespace ranklab::report::model {
namespace {

using Names = std::vector<std::string>;

/// Caches that suddenly hold the work make a little more than 1; more says that the baseline is none.
constexpr double kMostEfficiency = 1.2;
// A loader's threads share the cores of those that compute, so more of them cost no more.
constexpr const char* kLoadersShare = "loader threads share the cores that compute";

// Of a key that is a way to do the same work, the usual one.
struct Usual {
    const char *key, *value;
};
constexpr std::array kUsual{Usual{"mode", "single"}, Usual{"strategy", "text-loop"},
                            Usual{"sync", "per-parameter"}};

stats::RatioEstimate ratio_of(const Groups& groups, const Group& base, const Group& group) {
    const std::string time = common_time(groups, base, group);
    return stats::run_ratio(groups.values(base, time), groups.values(group, time));
}

stats::RatioEstimate times(const stats::RatioEstimate& estimate, double factor) {
    return {estimate.ratio * factor, {estimate.ci.low * factor, estimate.ci.high * factor}};
}

bool too_efficient(const stats::RatioEstimate& efficiency) {
    return (std::isnan(efficiency.ci.low) ? efficiency.ratio : efficiency.ci.low) > kMostEfficiency;
}

// More ranks need more hosts: those are others only where the baseline's are not among them.
bool is_elsewhere(const std::string& hosts, const std::string& of_base) {
    const auto all = base::split(hosts, ' '), some = base::split(of_base, ' ');
    return std::ranges::any_of(some,
                               [&](const auto& host) { return std::ranges::find(all, host) == all.end(); });
}

class AgainstBaselines {
  public:
    AgainstBaselines(const Groups& groups, const std::string& over)
        : groups_(groups), over_(over), baselines_(groups, over) {}

    ScalingRow row(std::size_t group) const {
        ScalingRow row{baselines_.strong(group), baselines_.weak(group), {}, false, {}};
        for (Against* against : {&row.strong, &row.weak}) fill(*against, group, row.doubts);
        if (row.strong.exists())
            row.speedup = ratio_of(groups_, groups_.all[row.strong.baseline], groups_.all[group]);
        if (const auto names = baselines_.other_work(group); !names.empty())
            row.doubts.push_back({Mark::other_work, some_of(names, 4)});
        return row;
    }

  private:
    void fill(Against& against, std::size_t place, std::vector<Doubt>& doubts) const {
        if (!against.exists()) return;
        const Group &base = groups_.all[against.baseline], &group = groups_.all[place];
        const bool loaders = over_ == "workers" && group.factor("command") == "train";
        const std::string why = loaders ? kLoadersShare : why_no_efficiency(base.cores, group.cores);
        const auto add = [&](Mark mark, const std::string& what) {
            const Doubt doubt{mark, what};
            if (!what.empty() && std::ranges::find(doubts, doubt) == doubts.end()) doubts.push_back(doubt);
        };
        add(Mark::not_as_baseline, some_of(other_places(base, group), 4));
        add(Mark::no_efficiency, why);
        if (!why.empty()) return;
        against.efficiency =
            times(ratio_of(groups_, base, group),
                  against.work * base::real(base.cores.count) / base::real(group.cores.count));
        if (too_efficient(against.efficiency)) add(Mark::too_efficient, fmt::format("{}", kMostEfficiency));
    }

    // What is not the baseline's, of what a reader takes for the same.
    Names other_places(const Group& base, const Group& group) const {
        Names other;
        for (const auto& [key, own] : common_places(group)) {
            const auto its = common_places(base);
            const auto found = its.find(key);
            if (key == over_ || found == its.end() || own.empty() || found->second.empty()) continue;
            if (key == "hosts" ? is_elsewhere(own, found->second) : own != found->second)
                other.push_back(fmt::format("{} {} (baseline {})", key, base::printable(own, 40),
                                            base::printable(found->second, 40)));
        }
        return other;
    }

    Conditions common_places(const Group& group) const {
        Conditions common = groups_.runs().places[group.runs.front()];
        for (const std::size_t run : group.runs)
            std::erase_if(common, [&](const auto& one) {
                const auto& its = groups_.runs().places[run];
                const auto found = its.find(one.first);
                return found == its.end() || found->second != one.second;
            });
        return common;
    }

    const Groups& groups_;
    std::string over_;
    Baselines baselines_;
};

std::string unit_of(const Groups& groups) {
    std::set<std::string> units;
    for (const auto& group : groups.all)
        if (group.cores.known()) units.insert(group.cores.unit());
    return units.empty() ? "core or GPU" : base::join({units.begin(), units.end()}, " or ");
}

// The keys say how: ways to work together, or to write. Ways to sum gradients are compared on as many cores.
bool did_the_same_work(const Groups& groups, const std::vector<std::size_t>& rows) {
    const auto is_way = [](const std::string& key) { return key == "strategy" || !is_work(key); };
    if (!std::ranges::all_of(groups.keys, is_way)) return false;
    const Group& first = groups.all[rows.front()];
    const bool trains = first.factor("command") == "train",
               modes = std::ranges::find(groups.keys, "mode") != groups.keys.end();
    const auto is_free = [&](const std::string& name) {
        return is_way(name) || (trains && name == "batch-size");
    };
    return std::ranges::all_of(rows, [&](std::size_t row) {
        const Group& group = groups.all[row];
        const bool as_many = group.cores.known() ? group.cores.count == first.cores.count
                                                 : group.factor("ranks") == first.factor("ranks");
        return differing_factors(first, group, is_free).empty() && (!trains || modes || as_many);
    });
}

std::size_t usual_row(const Groups& groups, const std::vector<std::size_t>& rows) {
    for (const auto& [key, value] : kUsual)
        for (const std::size_t row : rows)
            if (std::ranges::find(groups.keys, key) != groups.keys.end() &&
                groups.all[row].factor(key) == value)
                return row;
    return rows.front();
}

// Of ways to do the same work, where no key is a number of ranks, threads or workers.
void compare_ways(Scaling& scaling, const Groups& groups) {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < groups.all.size(); ++i)
        if (counts(groups.all[i])) rows.push_back(i);
    if (rows.size() < 2 || !did_the_same_work(groups, rows)) return;
    const std::string time = common_time(groups, groups.all[rows.front()], groups.all[rows.back()]);
    if (!std::ranges::all_of(rows, [&](std::size_t row) { return groups.has(groups.all[row], time); }))
        return;
    const std::size_t base = usual_row(groups, rows);
    for (const std::size_t row : rows) {
        if (row == base) continue;
        scaling.rows[row].strong = {base, 1, {}};
        scaling.rows[row].speedup = ratio_of(groups, groups.all[base], groups.all[row]);
    }
    scaling.findings.push_back(best_of(groups, time, rows, base));
}

bool has_comm_alone(const Groups& groups) {
    return std::ranges::all_of(
        groups.all, [](const Group& group) { return !group.valid() || group.factor("command") == "comm"; });
}

void mark_baselines(Scaling& scaling) {
    for (std::size_t i = 0; i < scaling.rows.size(); ++i)
        for (const std::size_t base : {scaling.rows[i].strong.baseline, scaling.rows[i].weak.baseline})
            if (base != kNoBaseline) scaling.rows[base].is_baseline = true;
}

}  // namespace

bool Scaling::has_strong() const {
    return std::ranges::any_of(rows, &ScalingRow::is_strong) ||
           (!has_weak() && std::ranges::any_of(rows, [](const auto& row) { return row.strong.exists(); }));
}

bool Scaling::has_weak() const {
    return std::ranges::any_of(rows, &ScalingRow::is_weak);
}

std::string common_time(const Groups& groups, const Group& a, const Group& b) {
    for (const auto* whole : vocabulary::wholes())
        if (groups.has(a, whole->name) && groups.has(b, whole->name)) return std::string(whole->name);
    return "";
}

Scaling scaling_over(const Groups& groups, const std::string& over) {
    Scaling scaling{over, unit_of(groups), std::vector<ScalingRow>(groups.all.size()), {}};
    const AgainstBaselines against(groups, over);
    for (std::size_t i = 0; i < groups.all.size(); ++i)
        if (groups.all[i].valid()) scaling.rows[i] = against.row(i);
    mark_baselines(scaling);
    add_fastest(scaling, groups);
    add_weak(scaling, groups);
    return scaling;
}

Scaling scaling_of(const Groups& groups) {
    Scaling scaling{"", unit_of(groups), std::vector<ScalingRow>(groups.all.size()), {}};
    if (groups.all.empty() || groups.all.size() > kMostScaled) return scaling;
    for (const char* key : {"ranks", "threads", "workers"})
        if (std::ranges::find(groups.keys, key) != groups.keys.end()) {
            scaling = scaling_over(groups, key);
            break;
        }
    if (scaling.over.empty()) compare_ways(scaling, groups), mark_baselines(scaling);
    if (scaling.findings.empty() && has_comm_alone(groups)) add_best_rate(scaling, groups);
    return scaling;
}

std::vector<Curve> curves_of(const Groups& groups, const Scaling& scaling, bool weak) {
    const Baselines baselines(groups, scaling.over);
    std::map<std::pair<std::size_t, CurveKey>, std::vector<std::size_t>> met;
    for (std::size_t i = 0; i < scaling.rows.size(); ++i) {
        const Against& against = weak ? scaling.rows[i].weak : scaling.rows[i].strong;
        if (against.exists()) met[{against.baseline, baselines.key_of(i)}].push_back(i);
    }
    std::vector<Curve> curves;
    std::vector<const Group*> last;
    for (auto& [key, points] : met) {
        std::ranges::stable_sort(points, {}, [&](std::size_t i) { return baselines.width(i); });
        if (baselines.width(points.back()) <= baselines.width(key.first)) continue;
        Curve curve{"", {key.first}, {}};
        curve.groups.insert(curve.groups.end(), points.begin(), points.end());
        for (const std::size_t i : curve.groups) curve.widths.push_back(baselines.width(i));
        last.push_back(&groups.all[points.back()]);
        curves.push_back(std::move(curve));
    }
    const auto titles = groups.titles(
        last, {"ranks", "nodes", scaling.over, weak ? "global-batch-size" : "batch-size", "hosts"});
    for (std::size_t i = 0; i < curves.size(); ++i) curves[i].title = titles[i];
    return curves;
}

}  // namespace ranklab::report::model
