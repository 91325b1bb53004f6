#include "report/model/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "base/cast.hpp"
#include "base/text.hpp"
#include "report/model/scaling_bases.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/facts.hpp"

namespace ranklab::report::model {
namespace {

// Above this many repetitions of one run the resampling would take longer than the report.
constexpr std::size_t kMostRepetitions = 20000;
// A loader's threads share the cores of those that compute, so more of them cost no more.
constexpr const char* kLoadersShare = "loader threads share the cores that compute";

using Names = std::vector<std::string>;

std::string key_text(const KeyedGroup& group, const Names& keys) {
    Names parts;
    for (std::size_t i = 0; i < keys.size(); ++i)
        parts.push_back(fmt::format("{} = {}", keys[i], group.key[i]));
    return base::join(parts, ", ");
}

std::string code_of(const KeyedGroup& base) {
    if (is_single_device(base)) return ", single-device code";
    return base.factors.differs("mode")
               ? ", single-device code and others in one: the key mode tells them apart"
               : "";
}

std::string cores_text(const Cores& cores) {
    return cores.known() ? ", " + counted(cores.count, cores.unit()) : "";
}

std::string base_line(const KeyedGroup& base, const Names& keys) {
    const std::string time = common_time(base, base);
    const Estimate found = estimate(base, time);
    return fmt::format("base: {}, {} {} s, {} run(s){}{}", key_text(base, keys), time, number(found.value),
                       found.runs, cores_text(base.cores.common()), code_of(base));
}

// More ranks need more hosts: those are others only where the base's are not among them.
bool is_elsewhere(const std::string& hosts, const std::string& of_base) {
    const auto all = base::split(hosts, ' '), some = base::split(of_base, ' ');
    return std::ranges::any_of(some,
                               [&](const auto& host) { return std::ranges::find(all, host) == all.end(); });
}

// What is not the base's, of what a reader takes for the same.
Names apart_from(const KeyedGroup& base, const KeyedGroup& group, const std::string& over) {
    Names apart;
    for (const auto& key : group.places.keys()) {
        const std::string own = group.places.common(key), its = base.places.common(key);
        const bool other = key == "hosts" ? is_elsewhere(own, its) : own != its;
        if (key != over && other && !own.empty() && !its.empty())
            apart.push_back(
                fmt::format("{} {} (base {})", key, base::printable(own, 40), base::printable(its, 40)));
    }
    return apart;
}

class AgainstBases {
  public:
    AgainstBases(const Bases& bases, std::string over, const results::ResultFile& file)
        : bases_(bases),
          over_(std::move(over)),
          ratios_([&file](const std::string& id) { return file.read(id); }) {}

    ScalingRow row(const KeyedGroup& group) {
        ScalingRow row;
        const auto &strong = bases_.strong(group), &weak = bases_.weak(group);
        if (weak.group != nullptr) add(row, row.weak, weak, group);
        if (strong.group != nullptr) add(row, row.strong, strong, group);
        if (strong.group != nullptr) row.speedup = ratio(strong, group).speedup();
        row.why_not = bases_.why_none(group);
        return row;
    }
    const std::vector<const KeyedGroup*>& used() const { return used_; }

  private:
    TimesOfBoth ratio(const Bases::Base& base, const KeyedGroup& group) {
        return ratios_.of(common_time(*base.group, group), *base.group, group);
    }

    void add(ScalingRow& row, ScalingClaim& claim, const Bases::Base& base, const KeyedGroup& group) {
        const TimesOfBoth both = ratio(base, group);
        const Cores &its = base.group->cores.common(), &own = group.cores.common();
        claim.work = base.work;
        row.within_runs = both.within_runs;
        row.apart = apart_from(*base.group, group, over_);
        const bool loaders = over_ == "workers" && group.factors.common("command") == "train";
        row.why_no_efficiency = loaders ? kLoadersShare : why_no_efficiency(its, own);
        if (!loaders) claim.efficiency = both.efficiency(base.work, its, own);
        if (std::ranges::find(used_, base.group) == used_.end()) used_.push_back(base.group);
    }

    const Bases& bases_;
    std::string over_;
    Ratios ratios_;
    std::vector<const KeyedGroup*> used_;
};

void mark_bases(GroupScaling& scaling, const std::vector<KeyedGroup>& groups, const Bases& bases) {
    for (const auto& group : groups) {
        if (const auto* base = bases.strong(group).group)
            scaling.rows[bases.index(*base)].strong.is_base = true;
        if (const auto* base = bases.weak(group).group) scaling.rows[bases.index(*base)].weak.is_base = true;
    }
}

// Of the base and the groups that did its work, the fastest; and those of fewer whose intervals meet its own.
std::string best_line(const KeyedGroup& base, const std::vector<const KeyedGroup*>& rows, const Names& keys,
                      const Bases& bases) {
    const std::string time = common_time(base, *rows.back());
    const auto value = [&](const KeyedGroup* group) { return estimate(*group, time).value; };
    const KeyedGroup* best = *std::ranges::min_element(rows, {}, value);
    if (best == &base)
        return fmt::format("best: the base, {}; no more of them are faster", key_text(base, keys));
    const Estimate fastest = estimate(*best, time);
    Names alike;
    for (const KeyedGroup* row : rows)
        if (bases.width(*row) < bases.width(*best) && estimate(*row, time).ci.low <= fastest.ci.high)
            alike.push_back(key_text(*row, keys));
    std::string doubt = alike.empty() ? "" : "; their intervals overlap: " + some_of(alike, 3, "; ");
    if (rows.size() > 1 && std::isnan(fastest.ci.low)) doubt = "; too few runs to tell how surely";
    return fmt::format("best: {}, {} {} s, {:.2f} times as fast as the base{}", key_text(*best, keys), time,
                       number(fastest.value), value(&base) / fastest.value, doubt);
}

void add_best(GroupScaling& scaling, const std::vector<KeyedGroup>& groups, const Names& keys,
              const Bases& bases) {
    InOrderMet<const KeyedGroup*, std::vector<const KeyedGroup*>> of_base;
    for (const auto& group : groups) {
        const KeyedGroup* base = bases.strong(group).group;
        if (base == nullptr) continue;
        auto& rows = of_base[base];
        if (rows.empty()) rows.push_back(base);
        rows.push_back(&group);
    }
    if (!scaling.has_strong()) return;
    for (const auto& rows : of_base.all())
        scaling.best.push_back(best_line(*rows.front(), rows, keys, bases));
}

// How much is left at the most ranks of each weak base.
void add_widest(GroupScaling& scaling, const std::vector<KeyedGroup>& groups, const Names& keys,
                const Bases& bases) {
    InOrderMet<const KeyedGroup*, const KeyedGroup*> widest;
    for (const auto& group : groups) {
        const auto& [base, work] = bases.weak(group);
        if (base == nullptr || work == 1) continue;
        const KeyedGroup*& most = widest[base];
        if (most == nullptr || bases.width(*most) < bases.width(group)) most = &group;
    }
    for (const KeyedGroup* most : widest.all())
        scaling.best.push_back(fmt::format("weak scaling: {} has efficiency/{} {}", key_text(*most, keys),
                                           scaling.unit,
                                           fixed(scaling.rows[bases.index(*most)].weak.efficiency.ratio, 3)));
}

std::string unit_of(const std::vector<KeyedGroup>& groups) {
    std::set<std::string> units;
    for (const auto& group : groups)
        if (group.cores.common().known()) units.insert(group.cores.common().unit());
    return units.size() == 1 ? *units.begin() : "core or GPU";
}

void add_notes(GroupScaling& scaling) {
    const std::string what =
        scaling.over == "ranks" ? "strong scaling (the same work for all ranks together)" : "the same work";
    if (scaling.has_strong())
        scaling.notes.push_back(fmt::format(
            "{1}: speedup = T(base) / T, efficiency/{0} = speedup / ({0}s / base {0}s)", scaling.unit, what));
    if (scaling.has_weak())
        scaling.notes.push_back(
            fmt::format("weak scaling (the same batch-size for each rank): efficiency/{0} = T(base) / T x "
                        "(global batch / base's) / ({0}s / base {0}s)",
                        scaling.unit));
}

}  // namespace

bool GroupScaling::has_strong() const {
    const bool own = std::ranges::any_of(
        rows, [](const ScalingRow& row) { return row.strong.work > 0 && row.weak.work != 1; });
    return own || (!has_weak() &&
                   std::ranges::any_of(rows, [](const ScalingRow& row) { return row.strong.work > 0; }));
}

bool GroupScaling::has_weak() const {
    return std::ranges::any_of(rows,
                               [](const ScalingRow& row) { return row.weak.work > 0 && row.weak.work != 1; });
}

std::string TimesOfBoth::interval_over(const stats::Interval& interval,
                                       const std::string& repetitions) const {
    const std::string what = within_runs ? repetitions : "runs";
    if (!std::isnan(interval.low)) return "interval by bootstrap over " + what;
    const bool few = std::min(base.size(), times.size()) < kRunsForInterval;
    return few ? fmt::format("no interval: a side has fewer than {} {}", kRunsForInterval, what)
               : "no interval";
}

std::string why_no_efficiency(const Cores& of_base, const Cores& of_group) {
    if (!of_group.known()) return of_group.why_not;
    if (!of_base.known()) return "of the base, " + of_base.why_not;
    return of_base.gpus == of_group.gpus ? "" : "one counts cores, the other GPUs";
}

stats::RatioEstimate TimesOfBoth::efficiency(double work, const Cores& of_base, const Cores& of_group) const {
    if (!why_no_efficiency(of_base, of_group).empty()) return {};
    return stats::estimate_efficiency(base, times, work,
                                      base::real(of_group.count) / base::real(of_base.count));
}

TimesOfBoth Ratios::of(std::string_view measurement, const RunGroup& base, const RunGroup& group) {
    const auto& reference = base.find(measurement)->medians;
    const auto& times = group.find(measurement)->medians;
    if (reference.size() != 1 || times.size() != 1) return {reference, times, false};
    return {repetitions(measurement, base), repetitions(measurement, group), true};
}

// The median alone where the run stored no samples, or too many.
const std::vector<double>& Ratios::repetitions(std::string_view measurement, const RunGroup& of_one) {
    const auto [place, fresh] = read_.try_emplace({of_one.runs.back(), std::string(measurement)});
    if (!fresh) return place->second;
    const results::Run run = load_(of_one.runs.back());
    const results::Measurement* m = run.find(measurement);
    if (m != nullptr && m->columns > 0 && m->rows() <= kMostRepetitions) place->second = m->largest_of_rows();
    if (place->second.empty()) place->second = of_one.find(measurement)->medians;
    return place->second;
}

GroupScaling scaling_of(const std::vector<KeyedGroup>& groups, const std::vector<std::string>& keys,
                        const results::ResultFile& file) {
    GroupScaling scaling;
    auto place = keys.end();
    for (const char* key : {"ranks", "threads", "workers"})
        if (place == keys.end()) place = std::ranges::find(keys, key);
    if (place == keys.end()) return scaling;
    scaling.over = *place;
    scaling.unit = unit_of(groups);
    const Bases bases(groups, keys, static_cast<std::size_t>(place - keys.begin()));
    AgainstBases against(bases, scaling.over, file);
    for (const auto& group : groups) scaling.rows.push_back(against.row(group));
    mark_bases(scaling, groups, bases);
    for (const KeyedGroup* base : against.used()) scaling.bases.push_back(base_line(*base, keys));
    add_best(scaling, groups, keys, bases);
    add_widest(scaling, groups, keys, bases);
    add_notes(scaling);
    return scaling;
}

}  // namespace ranklab::report::model
