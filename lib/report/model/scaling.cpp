#include "report/model/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/model/values.hpp"
#include "stats/interval.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::report::model {
namespace {

using Names = std::vector<std::string>;

/// Caches that suddenly hold the work give a little more than 1; higher values show a wrong
/// baseline.
constexpr double kMostEfficiency = 1.2;
constexpr const char *kOfRank = "batch-size", *kOfAll = "global-batch-size";

bool same(const Group& a, const Group& b, const std::string& key) {
    const std::string value = a.factor(key);
    return !value.empty() && value == b.factor(key);
}

bool is_batch(const std::string& key) {
    return key == kOfRank || key == kOfAll;
}

bool too_efficient(const stats::RatioEstimate& efficiency) {
    return (std::isnan(efficiency.ci.low) ? efficiency.ratio : efficiency.ci.low) > kMostEfficiency;
}

// More ranks need more hosts: those are others only where the baseline's are not among them.
bool is_elsewhere(const std::string& hosts, const std::string& of_base) {
    const auto all = base::split(hosts, ' '), some = base::split(of_base, ' ');
    return std::ranges::any_of(
        some, [&](const auto& host) { return std::ranges::find(all, host) == all.end(); });
}

// Which group another one may be compared with, and how.
class Baselines {
  public:
    Baselines(const Groups& groups, const std::string& over);

    ScalingRow row(std::size_t group) const;

  private:
    std::vector<std::size_t> candidates(std::size_t group) const;
    BaselineComparison first_of(const std::vector<std::size_t>& candidates, const Group& group,
                                bool weak) const;
    std::optional<double> growth_of_work(const Group& base, const Group& group, bool weak) const;
    Names other_work(const Group& base, const Group& group) const;
    Names differing_work(const Group& base, const Group& group) const;
    Names pooled_work(const Group& group) const;
    Names other_places(const Group& base, const Group& group) const;
    void judge(BaselineComparison& against, const Group& group, std::vector<Caveat>& caveats) const;
    bool is_free(const std::string& setting) const;
    bool is_alone(const Group& group) const {
        return over_ranks_ && group.factor("mode") == "single";
    }

    const Groups& groups_;
    std::string over_;
    bool over_ranks_;
    std::vector<double> widths_;
    /// For each group the keys of its work, and those with the keys of its method.
    Names work_, curves_;
};

// Compares the keys except the batch, whose two forms make the kinds of scaling. Hosts count where
// each group ran on one: on several, more ranks need others.
Baselines::Baselines(const Groups& groups, const std::string& over)
    : groups_(groups), over_(over), over_ranks_(over == "ranks") {
    const std::size_t hosts = groups.place_of("hosts"), place = groups.place_of(over);
    const bool one_host = std::ranges::none_of(groups.all, [&](const Group& group) {
        return hosts < groups.keys.size() && group.key[hosts].find(' ') != std::string::npos;
    });
    for (const Group& group : groups.all) {
        std::string work, between_ranks;
        for (std::size_t i = 0; i < groups.keys.size(); ++i) {
            const std::string& name = groups.keys[i];
            const bool follows =
                over_ranks_ && (name == "nodes" || vocabulary::setting_row(name).follows_ranks);
            if (i == place || is_batch(name) || follows || (i == hosts && !one_host)) continue;
            (is_between_ranks(name) ? between_ranks : work) += name + "=" + group.key[i] + "\n";
        }
        widths_.push_back(base::number_in(group.key[place]).value_or(0));
        work_.push_back(work);
        curves_.push_back(work + between_ranks);
    }
}

ScalingRow Baselines::row(std::size_t place) const {
    const Group& group = groups_.all[place];
    const auto bases = candidates(place);
    ScalingRow row{.width = widths_[place],
                   .curve = curves_[place],
                   .strong = first_of(bases, group, false),
                   .weak = first_of(bases, group, true)};
    for (BaselineComparison* against : {&row.strong, &row.weak})
        if (against->exists()) judge(*against, group, row.caveats);
    if (row.strong.exists())
        row.speedup = speedup_of(groups_, groups_.all[row.strong.baseline], group);
    else if (!row.weak.exists() && !bases.empty())
        row.caveats.push_back(
            {CaveatKind::other_work, some_of(other_work(groups_.all[bases.front()], group), 4)});
    return row;
}

// The best baseline first: the single-device code, then the fewest.
std::vector<std::size_t> Baselines::candidates(std::size_t group) const {
    std::vector<std::size_t> found;
    const Group& it = groups_.all[group];
    for (std::size_t i = 0; i < groups_.all.size(); ++i) {
        const Group& other = groups_.all[i];
        if (!(widths_[i] > 0) || common_time(groups_, other, it).empty()) continue;
        const bool alone = is_alone(other), same_work = work_[i] == work_[group];
        const bool narrower = widths_[i] < widths_[group];
        const bool other_code = alone && !is_alone(it) && widths_[i] <= widths_[group];
        if (narrower ? curves_[i] == curves_[group] || (alone && same_work)
                     : other_code && same_work)
            found.push_back(i);
    }
    std::ranges::stable_sort(found, [&](std::size_t a, std::size_t b) {
        const Group &x = groups_.all[a], &y = groups_.all[b];
        if (is_alone(x) != is_alone(y)) return is_alone(x);
        if (widths_[a] != widths_[b]) return widths_[a] < widths_[b];
        return x.runs.size() > y.runs.size();
    });
    return found;
}

// Where the best baseline pools different work, another one would be a surprise.
BaselineComparison Baselines::first_of(const std::vector<std::size_t>& candidates,
                                       const Group& group, bool weak) const {
    for (const std::size_t base : candidates) {
        if (!pooled_work(groups_.all[base]).empty()) break;
        if (const auto work = growth_of_work(groups_.all[base], group, weak)) return {base, *work};
    }
    return {};
}

// The work of a step or job over the baseline's; nullopt where the two give no scaling of that
// kind.
std::optional<double> Baselines::growth_of_work(const Group& base, const Group& group,
                                                bool weak) const {
    if (!pooled_work(group).empty() || !differing_work(base, group).empty()) return std::nullopt;
    if (same(base, group, "files") && same(base, group, "size"))
        return weak ? std::nullopt : std::optional(1.0);
    const auto all = base::number_in(group.factor(kOfAll)),
               base_all = base::number_in(base.factor(kOfAll));
    if (!all || !base_all || !(*base_all > 0) || base.factor(kOfRank).empty()) return std::nullopt;
    const bool of_rank = same(base, group, kOfRank), of_all = *all == *base_all;
    if (of_all && (of_rank || (over_ranks_ && !weak))) return 1;
    return of_rank && over_ranks_ && weak ? std::optional(*all / *base_all) : std::nullopt;
}

// Why a group has no baseline although there is a candidate: names of settings.
Names Baselines::other_work(const Group& base, const Group& group) const {
    for (const Names& names : {pooled_work(group), pooled_work(base), differing_work(base, group)})
        if (!names.empty()) return names;
    return {kOfRank, kOfAll};
}

Names Baselines::differing_work(const Group& base, const Group& group) const {
    auto names = differing_factors(
        base, group, [&](const std::string& name) { return is_free(name) || is_batch(name); });
    if (!over_ranks_ && !same(base, group, "ranks")) names.emplace_back("ranks");
    return names;
}

// How many work together is within one group a mixture of several.
Names Baselines::pooled_work(const Group& group) const {
    Names names = group.differing;
    std::erase_if(names, [&](const auto& name) {
        return is_free(name) && name != "ranks" && name != "replicas";
    });
    return names;
}

// Whether the setting may differ between a group and its baseline, or within one.
bool Baselines::is_free(const std::string& setting) const {
    return setting == over_ || !is_work(setting) ||
           (over_ranks_ && vocabulary::setting_row(setting).follows_ranks);
}

// Efficiency, and what makes a reader caveat it.
void Baselines::judge(BaselineComparison& against, const Group& group,
                      std::vector<Caveat>& caveats) const {
    const Group& base = groups_.all[against.baseline];
    const bool loaders = over_ == "workers" && group.factor("command") == "train";
    const std::string why = loaders ? "loader threads share the cores that compute"
                                    : why_no_efficiency(base.cores, group.cores);
    const auto add = [&](CaveatKind mark, const std::string& what) {
        const Caveat caveat{mark, what};
        if (!what.empty() && std::ranges::find(caveats, caveat) == caveats.end())
            caveats.push_back(caveat);
    };
    add(CaveatKind::not_as_baseline, some_of(other_places(base, group), 4));
    add(CaveatKind::no_efficiency, why);
    if (!why.empty()) return;
    const auto [ratio, ci] = speedup_of(groups_, base, group);
    const double factor =
        against.work * base::real(base.cores.count) / base::real(group.cores.count);
    against.efficiency = {ratio * factor, {ci.low * factor, ci.high * factor}};
    if (too_efficient(against.efficiency))
        add(CaveatKind::too_efficient, fmt::format("{}", kMostEfficiency));
}

// Places that differ from the baseline's, although a reader takes them for the same.
Names Baselines::other_places(const Group& base, const Group& group) const {
    Names other;
    for (const auto& [key, own] : group.places) {
        const auto its = base.places.find(key);
        if (key == over_ || its == base.places.end() || own.empty() || its->second.empty())
            continue;
        if (key == "hosts" ? is_elsewhere(own, its->second) : own != its->second)
            other.push_back(fmt::format("{} {} (baseline {})", key, base::printable(own, 40),
                                        base::printable(its->second, 40)));
    }
    return other;
}

Scaling nothing_scaled(const Groups& groups, const std::string& over) {
    std::set<std::string> units;
    for (const auto& group : groups.all)
        if (group.cores.known()) units.insert(group.cores.unit());
    return {over, units.empty() ? "core or GPU" : base::join({units.begin(), units.end()}, " or "),
            std::vector<ScalingRow>(groups.all.size())};
}

void mark_baselines(Scaling& scaling) {
    for (std::size_t i = 0; i < scaling.rows.size(); ++i)
        for (const std::size_t base :
             {scaling.rows[i].strong.baseline, scaling.rows[i].weak.baseline})
            if (base != kNoBaseline) scaling.rows[base].is_baseline = true;
}

}  // namespace

bool Scaling::has_strong() const {
    return std::ranges::any_of(rows, &ScalingRow::is_strong) ||
           (!has_weak() &&
            std::ranges::any_of(rows, [](const auto& row) { return row.strong.exists(); }));
}

bool Scaling::has_weak() const {
    return std::ranges::any_of(rows, &ScalingRow::is_weak);
}

Scaling scaling_over(const Groups& groups, const std::string& over) {
    Scaling scaling = nothing_scaled(groups, over);
    const Baselines baselines(groups, over);
    for (std::size_t i = 0; i < groups.all.size(); ++i)
        if (groups.all[i].valid()) scaling.rows[i] = baselines.row(i);
    mark_baselines(scaling);
    add_findings(scaling, groups);
    return scaling;
}

Scaling scaling_of(const Groups& groups) {
    Scaling scaling = nothing_scaled(groups, "");
    if (groups.all.empty() || groups.all.size() > kMostScaled) return scaling;
    for (const char* key : {"ranks", "threads", "workers"})
        if (scaling.over.empty() && groups.place_of(key) < groups.keys.size())
            scaling = scaling_over(groups, key);
    if (scaling.over.empty()) compare_ways(scaling, groups), mark_baselines(scaling);
    if (scaling.findings.empty()) add_best_rate(scaling, groups);
    return scaling;
}

std::vector<Curve> curves_of(const Groups& groups, const Scaling& scaling, bool weak) {
    const auto width = [&](std::size_t i) { return scaling.rows[i].width; };
    std::map<std::pair<std::size_t, std::string>, std::vector<std::size_t>> met;
    for (std::size_t i = 0; i < scaling.rows.size(); ++i) {
        const BaselineComparison& against = weak ? scaling.rows[i].weak : scaling.rows[i].strong;
        if (against.exists()) met[{against.baseline, scaling.rows[i].curve}].push_back(i);
    }
    std::vector<Curve> curves;
    std::vector<const Group*> last;
    for (auto& [key, points] : met) {
        std::ranges::stable_sort(points, {}, width);
        if (width(points.back()) <= width(key.first)) continue;
        Curve curve{"", {key.first}, {}};
        curve.groups.insert(curve.groups.end(), points.begin(), points.end());
        std::ranges::transform(curve.groups, std::back_inserter(curve.widths), width);
        last.push_back(&groups.all[points.back()]);
        curves.push_back(std::move(curve));
    }
    const auto titles =
        groups.titles(last, {"ranks", "nodes", scaling.over, weak ? kOfAll : kOfRank, "hosts"});
    for (std::size_t i = 0; i < curves.size(); ++i) curves[i].title = titles[i];
    return curves;
}

}  // namespace ranklab::report::model
