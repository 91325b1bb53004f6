#include "report/model/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::report::model {
namespace {

using Names = std::vector<std::string>;

// Work that suddenly fits into caches gives a little more than 1; higher values show a wrong
// baseline.
constexpr double kMostEfficiency = 1.2;

// Whether `hosts` lack a host of the baseline. Additional hosts do not count, since more ranks need
// them.
bool is_elsewhere(const std::string& hosts, const std::string& of_base) {
    const auto all = base::split(hosts, ' '), some = base::split(of_base, ' ');
    return std::ranges::any_of(
        some, [&](const auto& host) { return std::ranges::find(all, host) == all.end(); });
}

struct Baseline {
    std::size_t group = 0;
    double work = 1;  // of all ranks of the scaled group, relative to the baseline
};

// Finds the baseline of each group, and compares the two.
class Baselines {
  public:
    // Compares all keys except the two batch sizes, which tell strong from weak scaling. Hosts
    // count only if each group ran on one host, since more ranks need more hosts.
    Baselines(const Groups& groups, const std::string& over)
        : groups_(groups), over_(over), over_ranks_(over == "ranks") {
        const bool one_host = std::ranges::none_of(groups.all(), [&](std::size_t group) {
            return groups.key(group, "hosts").find(' ') != std::string::npos;
        });
        for (const std::size_t group : groups.all()) {
            std::string work, between_ranks;
            for (const auto& name : groups.keys()) {
                if (name == over || is_batch(name) || (name == "hosts" && !one_host) ||
                    (over_ranks_ && name == "nodes") || follows_ranks(name))
                    continue;
                (is_between_ranks(name) ? between_ranks : work) +=
                    name + "=" + groups.key(group, name) + "\n";
            }
            widths_.push_back(base::number_in(groups.key(group, over)).value_or(-1));
            work_.push_back(work);
            curves_.push_back(work + between_ranks);
        }
    }

    void scale(Scaling& scaling, std::size_t group) const {
        const auto bases = candidates(group);
        auto& caveats = scaling.table.rows[group].caveats;
        scaling.put(group, "width", widths_[group]);
        scaling.put(group, "curve", curves_[group]);
        bool scaled = false;
        for (const std::string kind : {"strong", "weak"})
            if (const auto base = first_of(bases, group, kind == "weak")) {
                scaled = true;
                scaling.put(group, kind + "_base", base->group);
                scaling.put(group, kind + "_work", base->work);
                scaling.put(group, kind + "_efficiency", judge(*base, group, caveats));
            }
        if (const auto base = scaling.baseline(group, false))
            scaling.put(group, "speedup", speedup_of(groups_, *base, group));
        if (!scaled && !bases.empty())
            caveats.push_back(
                {CaveatKind::other_work, some_of(other_work(bases.front(), group), 4)});
    }

  private:
    // The best baseline first: the single-device code, then the fewest ranks, threads or workers.
    std::vector<std::size_t> candidates(std::size_t group) const {
        std::vector<std::size_t> found;
        for (const std::size_t i : groups_.all()) {
            if (widths_[i] < 0 || common_time(groups_, i, group).empty()) continue;
            const bool alone = is_alone(i), same_work = work_[i] == work_[group];
            const bool narrower = widths_[i] < widths_[group];
            const bool other_code = alone && !is_alone(group) && widths_[i] <= widths_[group];
            if (narrower ? curves_[i] == curves_[group] || (alone && same_work)
                         : other_code && same_work)
                found.push_back(i);
        }
        std::ranges::stable_sort(found, {}, [&](std::size_t i) {
            return std::tuple(!is_alone(i), widths_[i], -base::real(groups_.members(i).size()));
        });
        return found;
    }

    // The search stops at a candidate that pools different work: no baseline is better than an
    // unexpected one.
    std::optional<Baseline> first_of(const std::vector<std::size_t>& candidates, std::size_t group,
                                     bool weak) const {
        for (const std::size_t base : candidates) {
            if (!pooled_work(base).empty()) break;
            if (const auto work = growth_of_work(base, group, weak)) return Baseline{base, *work};
        }
        return std::nullopt;
    }

    // The work of a step or job relative to the baseline's; nullopt if the two groups give no
    // scaling of that kind.
    std::optional<double> growth_of_work(std::size_t base, std::size_t group, bool weak) const {
        if (!pooled_work(group).empty() || !differing_work(base, group).empty())
            return std::nullopt;
        if (same(base, group, setting::kFiles) && same(base, group, setting::kSize))
            return weak ? std::nullopt : std::optional(1.0);
        const auto all = base::number_in(groups_.factor(group, setting::kGlobalBatchSize)),
                   base_all = base::number_in(groups_.factor(base, setting::kGlobalBatchSize));
        if (!all || !base_all || !(*base_all > 0) ||
            groups_.factor(base, setting::kBatchSize).empty())
            return std::nullopt;
        const bool of_rank = same(base, group, setting::kBatchSize),
                   of_all = *all == *base_all || !groups_.asked_time().empty();  // or epochs
        if (of_all && (of_rank || (over_ranks_ && !weak))) return 1;
        return of_rank && over_ranks_ && weak ? std::optional(*all / *base_all) : std::nullopt;
    }

    // Why a group has no baseline although there is a candidate: names of settings.
    Names other_work(std::size_t base, std::size_t group) const {
        for (const Names& names :
             {pooled_work(group), pooled_work(base), differing_work(base, group)})
            if (!names.empty()) return names;
        return {std::string(setting::kBatchSize), std::string(setting::kGlobalBatchSize)};
    }

    Names differing_work(std::size_t base, std::size_t group) const {
        Names names = groups_.differing(base, group);
        std::erase_if(names, [&](const auto& name) { return is_free(name) || is_batch(name); });
        if (!over_ranks_ && !same(base, group, setting::kRanks))
            names.emplace_back(setting::kRanks);
        return names;
    }

    // Work settings that differ within one group, including ranks and replicas.
    Names pooled_work(std::size_t group) const {
        Names names = groups_.varying(group);
        std::erase_if(names, [&](const auto& name) {
            return is_free(name) && name != setting::kRanks && name != setting::kReplicas;
        });
        return names;
    }

    // Returns the efficiency, and adds caveats about the comparison.
    Cell judge(const Baseline& baseline, std::size_t group, std::vector<Caveat>& caveats) const {
        const std::size_t base = baseline.group;
        const Cores cores = groups_.cores(group), base_cores = groups_.cores(base);
        const bool loaders = over_ == setting::kWorkers && groups_.command(group) == "train";
        const std::string why = loaders ? "loader threads share the cores that compute"
                                        : why_no_efficiency(base_cores, cores);
        const auto add = [&](CaveatKind mark, const std::string& what) {
            const Caveat caveat{mark, what};
            if (!what.empty() && std::ranges::find(caveats, caveat) == caveats.end())
                caveats.push_back(caveat);
        };
        add(CaveatKind::not_as_baseline, some_of(other_places(base, group), 4));
        if (const auto own = groups_.load(group), its = groups_.load(base); own.differs_from(its))
            add(CaveatKind::load_differs, fmt::format("{}; baseline: {}", own.text(), its.text()));
        add(CaveatKind::no_efficiency, why);
        if (!why.empty()) return {};
        const auto [ratio, ci] = speedup_of(groups_, base, group);
        const double factor =
            baseline.work * base::real(base_cores.count) / base::real(cores.count);
        const Cell efficiency{ratio * factor, {ci.low * factor, ci.high * factor}};
        if (factor * (std::isnan(ci.low) ? ratio : ci.low) > kMostEfficiency)
            add(CaveatKind::too_efficient, fmt::format("{}", kMostEfficiency));
        return efficiency;
    }

    // Properties of the machine that differ from the baseline's, with both values.
    Names other_places(std::size_t base, std::size_t group) const {
        const Frame& table = groups_.table();
        Names other;
        for (const std::size_t column : table.all(Role::place)) {
            const std::string &name = table.columns[column].name,
                              &own = table.at(group, column).text,
                              &its = table.at(base, column).text;
            const auto is_one = [](const auto& text) { return !text.empty() && text != kVaries; };
            const bool of_workers = over_ == setting::kWorkers && name == setting::kThreads;
            if (name == over_ || of_workers || !is_one(own) || !is_one(its)) continue;
            if (name == "hosts" ? is_elsewhere(own, its) : own != its)
                other.push_back(fmt::format("{} {} (baseline {})", name, base::printable(own, 40),
                                            base::printable(its, 40)));
        }
        std::ranges::sort(other);
        return other;
    }

    bool follows_ranks(const std::string& name) const {
        return over_ranks_ && vocabulary::setting_row(name).follows_ranks;
    }
    // Whether the setting may differ between a group and its baseline, or within one.
    bool is_free(const std::string& name) const {
        return name == over_ || !is_work(name) || follows_ranks(name);
    }
    bool is_alone(std::size_t group) const {
        return over_ranks_ && groups_.says(group, "single_device");
    }
    bool same(std::size_t a, std::size_t b, std::string_view factor) const {
        const auto& value = groups_.factor(a, factor);
        return !value.empty() && value == groups_.factor(b, factor);
    }

    const Groups& groups_;
    std::string over_;
    bool over_ranks_;
    std::vector<double> widths_;
    Names work_;    ///< for each group the values of its keys that define the work
    Names curves_;  ///< work_, and the keys that say how ranks work together
};

// Whether the key has several values.
bool varies(const Groups& groups, std::string_view key) {
    return groups.has_key(key) && std::ranges::any_of(groups.all(), [&](std::size_t group) {
               return groups.key(group, key) != groups.key(0, key);
           });
}

Scaling nothing_scaled(const Groups& groups, const std::string& over) {
    std::set<std::string> units;
    for (const std::size_t group : groups.all())
        if (const Cores cores = groups.cores(group); cores.known()) units.insert(cores.unit);
    return {over, units.empty() ? "core or GPU" : base::join({units.begin(), units.end()}, " or "),
            groups.table()};
}

// Marks the baselines, and appends the columns to show. A row that is a baseline shows a weak
// efficiency only if it has a baseline in weak scaling itself.
void append_columns(Scaling& scaling, const Groups& groups) {
    const auto all = groups.all();
    const bool weak = std::ranges::any_of(all, [&](auto i) { return scaling.is_weak(i); }),
               strong = std::ranges::any_of(
                   all, [&](auto i) { return scaling.baseline(i, false) && !scaling.is_weak(i); });
    for (const std::size_t i : all)
        for (const bool of_weak : {false, true})
            if (const auto base = scaling.baseline(i, of_weak)) scaling.put(*base, "is_base", 1);
    for (const std::size_t i : all) {
        const bool is_base = scaling.is_baseline(i);
        const auto append = [&](const char* name, const std::string& head, Cell ratio) {
            if (!ratio.is_number()) ratio = is_base ? "baseline" : "";
            scaling.table.set(i, {.name = name, .unit = "1", .interval = true, .head = head},
                              ratio);
        };
        if (strong) append("speedup", "", scaling.at(i, "speedup"));
        if (strong && !scaling.over.empty())
            append("efficiency", "efficiency/" + scaling.unit, scaling.at(i, "strong_efficiency"));
        if (weak)
            append("weak_efficiency", "weak efficiency/" + scaling.unit,
                   is_base && !scaling.is_weak(i) ? Cell() : scaling.at(i, "weak_efficiency"));
    }
    if (const auto cores = scaling.table.find("cores"); cores < scaling.table.columns.size())
        scaling.table.columns[cores].head = scaling.unit + "s";
}

}  // namespace

const Cell& Scaling::at(std::size_t group, std::string_view column) const {
    return table.at(group, table.find(column, Role::scaling));
}

void Scaling::put(std::size_t group, std::string column, Cell cell) {
    table.set(group, {.name = std::move(column), .role = Role::scaling}, std::move(cell));
}

std::optional<std::size_t> Scaling::baseline(std::size_t group, bool weak) const {
    const Cell& base = at(group, weak ? "weak_base" : "strong_base");
    return base.is_number() ? std::optional(static_cast<std::size_t>(base.number)) : std::nullopt;
}

double Scaling::weak_work(std::size_t group) const {
    const Cell& work = at(group, "weak_work");
    return work.is_number() ? work.number : 1;
}

bool Scaling::shows(std::string_view column) const {
    return table.find(column, Role::derived) < table.columns.size();
}

Scaling scaling_over(const Groups& groups, const std::string& over) {
    Scaling scaling = nothing_scaled(groups, over);
    if (groups.size() > kMostScaled) return scaling;
    const Baselines baselines(groups, over);
    for (const std::size_t group : groups.all())
        if (groups.valid(group)) baselines.scale(scaling, group);
    append_columns(scaling, groups);
    add_findings(scaling, groups);
    return scaling;
}

Scaling scaling_of(const Groups& groups) {
    Scaling scaling = nothing_scaled(groups, "");
    if (groups.size() == 0 || groups.size() > kMostScaled) return scaling;
    for (const auto key : {setting::kRanks, setting::kThreads, setting::kWorkers})
        if (scaling.over.empty() && varies(groups, key))
            scaling = scaling_over(groups, std::string(key));
    compare_ways(scaling, groups);
    if (scaling.over.empty()) append_columns(scaling, groups);
    return scaling;
}

std::vector<Curve> curves_of(const Groups& groups, const Scaling& scaling, bool weak) {
    const auto width = [&](std::size_t i) { return scaling.width(i); };
    std::map<std::pair<std::size_t, std::string>, std::vector<std::size_t>> met;
    for (const std::size_t i : groups.all())
        if (const auto base = scaling.baseline(i, weak))
            met[{*base, scaling.at(i, "curve").text}].push_back(i);
    std::vector<Curve> curves;
    std::vector<std::size_t> last;
    for (auto& [key, points] : met) {
        std::ranges::stable_sort(points, {}, width);
        if (width(points.back()) <= width(key.first)) continue;
        Curve curve{"", {key.first}, {}};
        curve.groups.insert(curve.groups.end(), points.begin(), points.end());
        std::ranges::transform(curve.groups, std::back_inserter(curve.widths), width);
        last.push_back(points.back());
        curves.push_back(std::move(curve));
    }
    const auto titles =
        groups.titles(last, {"ranks", "nodes", "hosts", scaling.over,
                             std::string(weak ? setting::kGlobalBatchSize : setting::kBatchSize)});
    for (std::size_t i = 0; i < curves.size(); ++i) {
        const auto& label = groups.key(curves[i].groups.front(), "label");
        const bool other = std::ranges::count(titles, titles[i]) > 1 && !label.empty();
        curves[i].title = titles[i] + (other ? ", label " + label : "");
    }
    return curves;
}

}  // namespace ranklab::report::model
