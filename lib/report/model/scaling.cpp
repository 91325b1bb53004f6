#include "report/model/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/cast.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/model/scaling_bases.hpp"
#include "report/model/scaling_why.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/facts.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::report::model {
namespace {

// Above this many repetitions of one run the resampling would take longer than the report.
constexpr std::size_t kMostRepetitions = 20000;
// A loader's threads share the cores of those that compute, so more of them cost no more.
constexpr const char* kLoadersShare = "loader threads share the cores that compute";

using Names = std::vector<std::string>;
using Groups = std::vector<const KeyedGroup*>;

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
        if ((key != over || !base::number_in(own)) && other && !own.empty() && !its.empty())
            apart.push_back(
                fmt::format("{} {} (base {})", key, base::printable(own, 40), base::printable(its, 40)));
    }
    return apart;
}

class AgainstBases {
  public:
    AgainstBases(const Bases& bases, std::string over, const LoadRun& load)
        : bases_(bases), over_(std::move(over)), ratios_(load) {}

    ScalingRow row(const KeyedGroup& group) {
        ScalingRow row;
        const auto &strong = bases_.strong(group), &weak = bases_.weak(group);
        if (weak.group != nullptr) row.weak = claim(weak, group);
        if (strong.group != nullptr) row.strong = claim(strong, group);
        if (strong.group != nullptr) row.speedup = ratio(strong, group).speedup();
        row.why_not = bases_.why_none(group);
        return row;
    }
    const Groups& used() const { return used_; }

  private:
    TimesOfBoth ratio(const Bases::Base& base, const KeyedGroup& group) {
        return ratios_.of(common_time(*base.group, group), *base.group, group);
    }

    ScalingClaim claim(const Bases::Base& base, const KeyedGroup& group) {
        const Cores &its = base.group->cores.common(), &own = group.cores.common();
        ScalingClaim claim{.work = base.work, .apart = apart_from(*base.group, group, over_)};
        const bool loaders = over_ == "workers" && group.factors.common("command") == "train";
        claim.why_no_efficiency = loaders ? kLoadersShare : why_no_efficiency(its, own);
        if (!loaders) claim.efficiency = ratio(base, group).efficiency(base.work, its, own);
        if (std::ranges::find(used_, base.group) == used_.end()) used_.push_back(base.group);
        return claim;
    }

    const Bases& bases_;
    std::string over_;
    Ratios ratios_;
    Groups used_;
};

void mark_bases(GroupScaling& scaling, const std::vector<KeyedGroup>& groups, const Bases& bases) {
    for (const auto& group : groups) {
        if (const auto* base = bases.strong(group).group)
            scaling.rows[bases.index(*base)].strong.is_base = true;
        if (const auto* base = bases.weak(group).group) scaling.rows[bases.index(*base)].weak.is_base = true;
    }
}

// What a claim of one row leaves open, in the same words for every claim.
constexpr const char* kTooFew = "; too few runs to tell how surely";

std::string crowd_of(const KeyedGroup& group) {
    return and_crowd(group.cores.oversubscribed());
}

// Rows whose runs reach as far down as the best one's reach up: too few runs to tell, and these say so.
std::string meeting(const KeyedGroup& best, const Groups& rows, const std::string& time, const Names& keys) {
    const auto own = run_range(best, time);
    Names names;
    for (const KeyedGroup* row : rows)
        if (row != &best && run_range(*row, time).low <= own.high) names.push_back(key_text(*row, keys));
    return names.empty() ? "" : "; " + some_of(names, 3, "; ") + " may be as fast: their runs' times meet";
}

std::string doubt(const KeyedGroup& best, const Groups& rows, const std::string& time, const Names& keys) {
    const stats::Interval own = estimate(best, time).ci;
    if (std::isnan(own.low)) return kTooFew + meeting(best, rows, time, keys) + crowd_of(best);
    Names alike, unsure;
    for (const KeyedGroup* row : rows) {
        const stats::Interval its = estimate(*row, time).ci;
        if (row == &best || its.low > own.high) continue;
        (std::isnan(its.low) ? unsure : alike).push_back(key_text(*row, keys));
    }
    std::string text;
    if (!alike.empty()) text += "; " + some_of(alike, 3, "; ") + " may be as fast: their intervals overlap";
    if (!unsure.empty()) text += std::string(kTooFew) + ": " + some_of(unsure, 3, "; ");
    return text + crowd_of(best);
}

double time_of(const KeyedGroup& group, const std::string& time) {
    return estimate(group, time).value;
}

// All have that time.
const KeyedGroup& fastest_of(const Groups& rows, const std::string& time) {
    return **std::ranges::min_element(rows, {}, [&](const KeyedGroup* row) { return time_of(*row, time); });
}

const KeyedGroup& second_of(Groups rows, const KeyedGroup& best, const std::string& time) {
    std::erase(rows, &best);
    return fastest_of(rows, time);
}

void add_claim(GroupScaling& scaling, std::string claim, std::string why) {
    scaling.best.push_back(std::move(claim));
    scaling.why.push_back(std::move(why));
}

// Of the base and the groups that did its work, the fastest, and why it is faster than the base; the base
// itself than the next one.
void add_best_of(GroupScaling& scaling, const KeyedGroup& base, Groups rows, const Names& keys) {
    const std::string time = common_time(base, *rows.back());
    std::erase_if(rows, [&](const KeyedGroup* row) { return row->find(time) == nullptr; });
    const KeyedGroup& best = fastest_of(rows, time);
    const NamedGroup the_base{base, "the base"}, it{best, key_text(best, keys)};
    if (&best == &base) {
        const KeyedGroup& second = second_of(rows, base, time);
        return add_claim(scaling,
                         fmt::format("best: {} (the base), {} {} s; no other row is faster{}", it.name, time,
                                     number(time_of(best, time)), doubt(best, rows, time, keys)),
                         why_faster(the_base, {second, key_text(second, keys)}));
    }
    add_claim(scaling,
              fmt::format("best: {}, {} {} s, {:.2f} times as fast as the base{}", it.name, time,
                          number(time_of(best, time)), time_of(base, time) / time_of(best, time),
                          doubt(best, rows, time, keys)),
              why_faster(it, the_base));
}

// What the program chose by the ranks or the threads, and what follows from the batch of a rank.
bool follows(const std::string& key) {
    return vocabulary::follows_ranks(key) || key == "global-batch-size" || key == "training.intra_op_threads";
}

// What no key tells of the rows, and each has in its own way: a row of one run has no mark that says it.
Names untold(const Groups& rows, const Names& keys) {
    std::map<std::string, std::set<std::string>> values;
    for (const KeyedGroup* row : rows)
        for (const auto& key : row->factors.keys()) values[key].insert(row->factors.common(key));
    Names names;
    for (const auto& [key, its] : values)
        if (its.size() > 1 && std::ranges::find(keys, key) == keys.end() && !follows(key))
            names.push_back(key);
    return names;
}

// Of ways to do the same work, where no key is a number of ranks, threads or workers.
void add_fastest(GroupScaling& scaling, const std::vector<KeyedGroup>& groups, const Names& keys) {
    Groups rows;
    for (const auto& group : groups)
        if (group.valid() && group.unsummed == 0) rows.push_back(&group);
    const Names differing = untold(rows, keys);
    const std::string too = differing.empty() ? "" : "the rows differ in " + some_of(differing, 4) + ", too";
    if (!too.empty()) scaling.notes.push_back(too + "; keys of the table tell such rows apart");
    if (rows.size() < 2 || !did_the_same_work(groups, keys)) return;
    const std::string time = common_time(*rows.front(), *rows.back());
    const auto lacks = [&](const KeyedGroup* row) { return row->find(time) == nullptr; };
    if (std::ranges::any_of(rows, lacks)) return;
    const KeyedGroup& best = fastest_of(rows, time);
    const KeyedGroup& second = second_of(rows, best, time);
    add_claim(scaling,
              fmt::format("best: {}, {} {} s{}", key_text(best, keys), time, number(time_of(best, time)),
                          doubt(best, rows, time, keys) + (too.empty() ? "" : "; " + too)),
              why_faster({best, key_text(best, keys)}, {second, key_text(second, keys)}));
}

// Of rows that trained together: those that did not are no way to do the work.
void add_best(GroupScaling& scaling, const std::vector<KeyedGroup>& groups, const Names& keys,
              const Bases& bases) {
    InOrderMet<const KeyedGroup*, Groups> of_base;
    for (const auto& group : groups) {
        const KeyedGroup* base = bases.strong(group).group;
        if (base == nullptr || group.unsummed + base->unsummed > 0) continue;
        auto& rows = of_base[base];
        if (rows.empty()) rows.push_back(base);
        rows.push_back(&group);
    }
    if (!scaling.has_strong()) return;
    for (const auto& rows : of_base.all()) add_best_of(scaling, *rows.front(), rows, keys);
}

double cores_over(const KeyedGroup& group, const KeyedGroup& base) {
    return base::real(group.cores.common().count) / base::real(base.cores.common().count);
}

std::string weak_line(const KeyedGroup& group, const KeyedGroup& base, const ScalingClaim& claim,
                      const std::string& unit, const Names& keys) {
    const double efficiency = claim.efficiency.ratio;
    if (std::isnan(efficiency))
        return fmt::format("weak scaling: {} has no efficiency{}{}", key_text(group, keys),
                           claim.why_no_efficiency.empty() ? "" : ": ", claim.why_no_efficiency);
    return fmt::format(
        "weak scaling: {} has efficiency/{} {}, {:.2f} times the base's work in the same time{}{}",
        key_text(group, keys), unit, fixed(efficiency, 3), efficiency * cores_over(group, base),
        std::isnan(claim.efficiency.ci.low) ? kTooFew : "", crowd_of(group));
}

// Where a core has as much to do in a step as the base's, and steps tell what differs.
std::string why_weak(const KeyedGroup& group, const KeyedGroup& base, const ScalingClaim& claim,
                     const Names& keys) {
    if (std::isnan(claim.efficiency.ratio) || cores_over(group, base) != claim.work) return "";
    const NamedGroup it{group, key_text(group, keys)}, the_base{base, "the base"};
    return claim.efficiency.ratio < 1 ? why_faster(the_base, it) : why_faster(it, the_base);
}

// How much is left at the most ranks of each series of each weak base; where several have as many, of each.
void add_widest(GroupScaling& scaling, const std::vector<KeyedGroup>& groups, const Names& keys,
                const Bases& bases) {
    InOrderMet<std::pair<const KeyedGroup*, SeriesKey>, Groups> widest;
    for (const auto& group : groups) {
        const auto& [base, work] = bases.weak(group);
        if (base == nullptr || work == 1 || group.unsummed > 0) continue;
        Groups& most = widest[{base, bases.key_of(group)}];
        if (!most.empty() && bases.width(*most.front()) < bases.width(group)) most.clear();
        if (most.empty() || bases.width(*most.front()) == bases.width(group)) most.push_back(&group);
    }
    for (const Groups& most : widest.all()) {
        for (const KeyedGroup* group : most) {
            const KeyedGroup& base = *bases.weak(*group).group;
            const ScalingClaim& claim = scaling.rows[bases.index(*group)].weak;
            add_claim(scaling, weak_line(*group, base, claim, scaling.unit, keys),
                      why_weak(*group, base, claim, keys));
        }
    }
}

std::string unit_of(const std::vector<KeyedGroup>& groups) {
    std::set<std::string> units;
    for (const auto& group : groups)
        if (group.cores.common().known()) units.insert(group.cores.common().unit());
    return units.empty() ? "core or GPU" : base::join({units.begin(), units.end()}, " or ");
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

std::string key_text(const KeyedGroup& group, const std::vector<std::string>& keys) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < keys.size(); ++i)
        parts.push_back(fmt::format("{} = {}", keys[i], group.key[i]));
    return base::join(parts, ", ");
}

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
               : fmt::format("no interval: the {} of a side hang together so much that they say too little",
                             what);
}

std::string why_no_efficiency(const Cores& of_base, const Cores& of_group) {
    if (!of_group.known()) return of_group.why_not;
    if (!of_base.known()) return "of the base, " + of_base.why_not;
    return of_base.of == of_group.of
               ? ""
               : fmt::format("one counts {}s, the other {}s", of_base.unit(), of_group.unit());
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
                        const LoadRun& load) {
    GroupScaling scaling;
    auto place = keys.end();
    for (const char* key : {"ranks", "threads", "workers"})
        if (place == keys.end()) place = std::ranges::find(keys, key);
    if (place == keys.end()) return add_fastest(scaling, groups, keys), scaling;
    scaling.over = *place;
    scaling.unit = unit_of(groups);
    const Bases bases(groups, keys, static_cast<std::size_t>(place - keys.begin()));
    AgainstBases against(bases, scaling.over, load);
    for (const auto& group : groups) scaling.rows.push_back(against.row(group));
    mark_bases(scaling, groups, bases);
    for (const KeyedGroup* base : against.used()) scaling.bases.push_back(base_line(*base, keys));
    add_best(scaling, groups, keys, bases);
    add_widest(scaling, groups, keys, bases);
    add_notes(scaling);
    return scaling;
}

}  // namespace ranklab::report::model
