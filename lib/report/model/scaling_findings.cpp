// Verdicts: which group is fastest, and how much efficiency weak scaling keeps.
#include "report/model/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "stats/difference.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::report::model {
namespace {

using Rows = std::vector<std::size_t>;

// Keys that are ways to do the same work, and the column (Groups::says) that marks the usual way.
constexpr std::pair<std::string_view, const char*> kUsual[] = {
    {setting::kMode, "single_device"},
    {setting::kStrategy, "baseline_strategy"},
    {setting::kSync, "baseline_sync"}};

// Whether the group may be compared: it has valid runs, and trainings summed their gradients.
bool counts(const Groups& groups, std::size_t group) {
    return groups.valid(group) && !groups.table().rows[group].has(CaveatKind::not_summed);
}

bool is_more_better(const std::string& measurement) {
    const auto* known = vocabulary::find_quantity(measurement);
    return known != nullptr && known->better == vocabulary::Better::more;
}

// How many times as good a is as b, with the test of `ranklab compare`.
stats::Difference advantage(const Groups& groups, const std::string& measurement, std::size_t a,
                            std::size_t b) {
    const auto of_a = groups.values(a, measurement), of_b = groups.values(b, measurement);
    return is_more_better(measurement) ? stats::difference(of_b, of_a)
                                       : stats::difference(of_a, of_b);
}

// The best of at least two rows in a measurement that all of them have; Holm's correction allows
// for comparing it with each. `baseline`: one of the rows, or kNoBaseline.
Finding best_of(const Groups& groups, const std::string& measurement, Rows rows,
                std::size_t baseline) {
    const auto name = [&](std::size_t row) { return groups.name(row); };
    std::ranges::stable_sort(rows, {}, [&](std::size_t row) {
        const double value = groups.estimate(row, measurement).number;
        return std::isnan(value) ? HUGE_VAL : is_more_better(measurement) ? -value : value;
    });
    const std::size_t best = rows.front();
    const std::size_t against = best == baseline || baseline == kNoBaseline ? rows[1] : baseline;
    Finding finding{
        .verdict = best == baseline ? Verdict::fastest_of_others : Verdict::fastest,
        .subject = name(best),
        .row = best,
        .against = name(against),
        .value = readable(groups.estimate(best, measurement).number, groups.unit(measurement)),
        .ratio = advantage(groups, measurement, best, against).ratio};
    bool known = true;
    std::vector<std::string> disturbed;
    std::vector<stats::Difference> over;
    std::vector<double> p;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        over.push_back(advantage(groups, measurement, best, rows[i]));
        p.push_back(over.back().test.p);
    }
    p = stats::holm(p);
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const auto found =
            stats::judge(over[i - 1], p[i - 1], stats::kMinEffect, stats::Better::more);
        known = known && found != stats::Verdict::too_few_runs;
        if (found != stats::Verdict::better)
            finding.alike.push_back(name(rows[i]));
        else if (groups.load(best).differs_from(groups.load(rows[i])))
            disturbed.push_back(name(rows[i]));
    }
    if (!finding.alike.empty()) {
        finding.verdict = known ? Verdict::undecided : Verdict::single_runs;
    } else if (!disturbed.empty()) {
        finding.verdict = Verdict::other_load;
        finding.alike = disturbed;
    }
    return finding;
}

// Whether the groups do the same work: their keys, and what differs between the rows, only say how
// ranks work together or how files are written. Trainings must use equally many cores.
bool did_the_same_work(const Groups& groups, const Rows& rows) {
    const auto is_way = [](const std::string& key) {
        return key == setting::kStrategy || !is_work(key);
    };
    if (!std::ranges::all_of(groups.keys(), is_way)) return false;
    const std::size_t first = rows.front();
    const bool trains = groups.command(first) == "train", modes = groups.has_key(setting::kMode);
    return std::ranges::all_of(rows, [&](std::size_t row) {
        const Cores cores = groups.cores(row);
        const bool as_many = cores.known() ? cores.count == groups.cores(first).count
                                           : groups.factor(row, setting::kRanks) ==
                                                 groups.factor(first, setting::kRanks);
        const bool same_work =
            std::ranges::all_of(groups.differing(first, row), [&](const std::string& name) {
                return is_way(name) || (trains && name == setting::kBatchSize);
            });
        return same_work && (!trains || modes || as_many);
    });
}

std::size_t usual_row(const Groups& groups, const Rows& rows) {
    for (const auto& [key, is_usual] : kUsual)
        for (const std::size_t row : rows)
            if (groups.has_key(key) && groups.says(row, is_usual)) return row;
    return rows.front();
}

void add_fastest(Scaling& scaling, const Groups& groups) {
    InsertionOrderedMap<std::size_t, Rows> of_base;
    for (std::size_t i = 0; i < scaling.rows.size(); ++i) {
        const BaselineComparison& strong = scaling.rows[i].strong;
        if (!strong.exists() || scaling.rows[i].is_weak() || !counts(groups, i) ||
            !counts(groups, strong.baseline))
            continue;
        auto& rows = of_base[strong.baseline];
        if (rows.empty()) rows.push_back(strong.baseline);
        rows.push_back(i);
    }
    for (auto& rows : of_base.all()) {
        const std::string time = common_time(groups, rows.front(), rows.back());
        std::erase_if(rows, [&](std::size_t row) { return !groups.has(row, time); });
        if (rows.size() > 1) scaling.findings.push_back(best_of(groups, time, rows, rows.front()));
    }
}

Finding weak_finding(const Scaling& scaling, const Groups& groups, std::size_t row) {
    const auto& [base, work, efficiency] = scaling.rows[row].weak;
    Finding finding{.verdict = Verdict::weak_scaling,
                    .subject = groups.name(row),
                    .row = row,
                    .against = groups.name(base),
                    .ratio = efficiency,
                    .unit = scaling.unit};
    if (std::isnan(efficiency.ratio)) {
        finding.verdict = Verdict::no_efficiency;
        finding.value = why_no_efficiency(groups.cores(base), groups.cores(row));
    } else if (std::isnan(efficiency.ci.low)) {
        finding.verdict = Verdict::weak_scaling_undecided;
        finding.value = "too few runs for an interval";
    } else if (groups.load(base).differs_from(groups.load(row))) {
        finding.verdict = Verdict::weak_scaling_undecided;
        finding.value = "other processes used their hosts differently";
    }
    return finding;
}

void add_weak(Scaling& scaling, const Groups& groups) {
    InsertionOrderedMap<std::pair<std::size_t, std::string>, Rows> widest;
    for (std::size_t i = 0; i < scaling.rows.size(); ++i) {
        const ScalingRow& row = scaling.rows[i];
        if (!row.is_weak() || !counts(groups, i)) continue;
        auto& most = widest[{row.weak.baseline, row.curve}];
        const double width = most.empty() ? 0 : scaling.rows[most.front()].width;
        if (width < row.width) most.clear();
        if (width <= row.width) most.push_back(i);
    }
    for (const auto& most : widest.all())
        for (const std::size_t i : most)
            scaling.findings.push_back(weak_finding(scaling, groups, i));
}

// Whether the rows differ in nothing but the groups' keys.
bool is_one_work(const Groups& groups, const Rows& rows) {
    return std::ranges::all_of(rows, [&](std::size_t row) {
        return std::ranges::all_of(groups.differing(rows.front(), row), [&](const auto& factor) {
            return groups.has_key(factor) || !is_work(factor);
        });
    });
}

}  // namespace

std::string common_time(const Groups& groups, std::size_t a, std::size_t b) {
    for (const auto* whole : vocabulary::wholes())
        if (groups.has(a, whole->name) && groups.has(b, whole->name))
            return std::string(whole->name);
    return "";
}

stats::RatioEstimate speedup_of(const Groups& groups, std::size_t base, std::size_t group) {
    const std::string time = common_time(groups, base, group);
    return stats::run_ratio(groups.values(base, time), groups.values(group, time));
}

bool is_work(const std::string& key) {
    return vocabulary::find_setting(key) != nullptr &&
           vocabulary::matters_to(vocabulary::SettingUse::group, key) &&
           !vocabulary::setting_row(key).between_ranks;
}

std::string baseline_note(const Groups& groups, std::size_t base) {
    const std::string time = common_time(groups, base, base);
    const Cores cores = groups.cores(base);
    return fmt::format("baseline: {}, {} {}{}{}", groups.name(base), without_unit(time),
                       readable(groups.estimate(base, time).number, groups.unit(time)),
                       cores.known() ? ", " + counted(cores.count, cores.unit) : "",
                       groups.says(base, "single_device") ? ", single-device code" : "");
}

void add_findings(Scaling& scaling, const Groups& groups) {
    add_fastest(scaling, groups);
    add_weak(scaling, groups);
}

void compare_ways(Scaling& scaling, const Groups& groups) {
    Rows rows;
    for (std::size_t i = 0; i < groups.size(); ++i)
        if (counts(groups, i)) rows.push_back(i);
    if (rows.size() < 2 || !did_the_same_work(groups, rows)) return;
    const std::string time = common_time(groups, rows.front(), rows.back());
    if (!std::ranges::all_of(rows, [&](std::size_t row) { return groups.has(row, time); })) return;
    const std::size_t base = usual_row(groups, rows);
    for (const std::size_t row : rows) {
        if (row == base) continue;
        scaling.rows[row].strong.baseline = base;
        scaling.rows[row].speedup = speedup_of(groups, base, row);
    }
    scaling.findings.push_back(best_of(groups, time, rows, base));
}

void add_best_rate(Scaling& scaling, const Groups& groups) {
    const auto is_other = [&](std::size_t group) {
        return groups.valid(group) && groups.command(group) != "comm";
    };
    if (std::ranges::any_of(groups.all(), is_other)) return;
    for (const auto& name : groups.measurements()) {
        const auto* known = vocabulary::find_quantity(name);
        if (known == nullptr || known->better == vocabulary::Better::neither) continue;
        Rows rows;
        for (std::size_t i = 0; i < groups.size(); ++i)
            if (counts(groups, i) && groups.has(i, name) &&
                groups.factor(i, setting::kRanks) != "1")
                rows.push_back(i);
        if (rows.size() < 2 || !is_one_work(groups, rows)) continue;
        scaling.findings.push_back(best_of(groups, name, rows, kNoBaseline));
        scaling.findings.back().value += " of " + name;
        return;
    }
}

}  // namespace ranklab::report::model
