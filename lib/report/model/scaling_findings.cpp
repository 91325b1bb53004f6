// Verdicts of a scaling, and what it compares.
#include "report/model/scaling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "report/frame/readable.hpp"
#include "report/model/values.hpp"
#include "stats/interval.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::report::model {
namespace {

using Rows = std::vector<std::size_t>;

// The usual value of a key that is a way to do the same work.
struct Usual {
    const char *key, *value;
};
constexpr std::array kUsual{Usual{"mode", "single"}, Usual{"strategy", "text-loop"},
                            Usual{"sync", "per-parameter"}};

bool has_key(const Groups& groups, const std::string& key) {
    return groups.place_of(key) < groups.keys.size();
}

// Whether its numbers may be compared: valid, and trained together.
bool counts(const Group& group) {
    return group.valid() && !group.not_summed;
}

bool is_more_better(const std::string& measurement) {
    const auto* known = vocabulary::find_quantity(measurement);
    return known != nullptr && known->better == vocabulary::Better::more;
}

// Above 1 where a is better. What many rows are compared in needs more than 95 % each.
stats::RatioEstimate ratio(const Groups& groups, const std::string& measurement, std::size_t a,
                           std::size_t b) {
    const auto of_a = groups.values(groups.all[a], measurement),
               of_b = groups.values(groups.all[b], measurement);
    return is_more_better(measurement) ? stats::run_ratio(of_a, of_b)
                                       : stats::run_ratio(of_b, of_a);
}

// Finds the best of at least two rows at a measurement that all have, and whether their runs
// suffice. `baseline`: one of the rows, or kNoBaseline.
Finding best_of(const Groups& groups, const std::string& measurement, Rows rows,
                std::size_t baseline) {
    const auto name = [&](std::size_t row) { return groups.name(groups.all[row]); };
    std::ranges::stable_sort(rows, {}, [&](std::size_t row) {
        const double value = groups.estimate(groups.all[row], measurement).value;
        return std::isnan(value) ? HUGE_VAL : is_more_better(measurement) ? -value : value;
    });
    const std::size_t best = rows.front();
    const std::size_t against = best == baseline || baseline == kNoBaseline ? rows[1] : baseline;
    const Estimate found = groups.estimate(groups.all[best], measurement);
    Finding finding{.verdict = best == baseline ? Verdict::fastest_of_others : Verdict::fastest,
                    .subject = name(best),
                    .row = best,
                    .against = name(against),
                    .value = readable(found.value, found.unit),
                    .ratio = ratio(groups, measurement, best, against)};
    bool known = true;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const auto to = ratio(groups, measurement, best, rows[i]);
        known = known && !std::isnan(to.ci.low);
        if (!(to.ci.low > 1)) finding.alike.push_back(name(rows[i]));
    }
    if (!finding.alike.empty()) finding.verdict = known ? Verdict::undecided : Verdict::single_runs;
    return finding;
}

// The keys are methods of working together or of writing. Methods of summing gradients are compared
// on equally many cores.
bool did_the_same_work(const Groups& groups, const Rows& rows) {
    const auto is_way = [](const std::string& key) { return key == "strategy" || !is_work(key); };
    if (!std::ranges::all_of(groups.keys, is_way)) return false;
    const Group& first = groups.all[rows.front()];
    const bool trains = first.factor("command") == "train", modes = has_key(groups, "mode");
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

std::size_t usual_row(const Groups& groups, const Rows& rows) {
    for (const auto& [key, value] : kUsual)
        for (const std::size_t row : rows)
            if (has_key(groups, key) && groups.all[row].factor(key) == value) return row;
    return rows.front();
}

void add_fastest(Scaling& scaling, const Groups& groups) {
    InsertionOrderedMap<std::size_t, Rows> of_base;
    for (std::size_t i = 0; i < scaling.rows.size(); ++i) {
        const BaselineComparison& strong = scaling.rows[i].strong;
        if (!strong.exists() || scaling.rows[i].is_weak() || !counts(groups.all[i]) ||
            !counts(groups.all[strong.baseline]))
            continue;
        auto& rows = of_base[strong.baseline];
        if (rows.empty()) rows.push_back(strong.baseline);
        rows.push_back(i);
    }
    for (auto& rows : of_base.all()) {
        const std::string time =
            common_time(groups, groups.all[rows.front()], groups.all[rows.back()]);
        std::erase_if(rows, [&](std::size_t row) { return !groups.has(groups.all[row], time); });
        if (rows.size() > 1) scaling.findings.push_back(best_of(groups, time, rows, rows.front()));
    }
}

Finding weak_finding(const Scaling& scaling, const Groups& groups, std::size_t row) {
    const auto& [base, work, efficiency] = scaling.rows[row].weak;
    Finding finding{.verdict = Verdict::weak_scaling,
                    .subject = groups.name(groups.all[row]),
                    .row = row,
                    .against = groups.name(groups.all[base]),
                    .ratio = efficiency,
                    .unit = scaling.unit};
    if (std::isnan(efficiency.ratio)) {
        finding.verdict = Verdict::no_efficiency;
        finding.value = why_no_efficiency(groups.all[base].cores, groups.all[row].cores);
    } else if (std::isnan(efficiency.ci.low)) {
        finding.verdict = Verdict::weak_scaling_undecided;
    }
    return finding;
}

void add_weak(Scaling& scaling, const Groups& groups) {
    InsertionOrderedMap<std::pair<std::size_t, std::string>, Rows> widest;
    for (std::size_t i = 0; i < scaling.rows.size(); ++i) {
        const ScalingRow& row = scaling.rows[i];
        if (!row.is_weak() || !counts(groups.all[i])) continue;
        auto& most = widest[{row.weak.baseline, row.curve}];
        const double width = most.empty() ? 0 : scaling.rows[most.front()].width;
        if (width < row.width) most.clear();
        if (width <= row.width) most.push_back(i);
    }
    for (const auto& most : widest.all())
        for (const std::size_t i : most)
            scaling.findings.push_back(weak_finding(scaling, groups, i));
}

// Whether the runs differ in nothing but the keys.
bool is_one_work(const Groups& groups, const Rows& rows) {
    const auto is_key = [&](const auto& factor) {
        return has_key(groups, factor) || !is_work(factor);
    };
    return std::ranges::all_of(rows, [&](std::size_t row) {
        return differing_factors(groups.all[rows.front()], groups.all[row], is_key).empty();
    });
}

}  // namespace

std::string common_time(const Groups& groups, const Group& a, const Group& b) {
    for (const auto* whole : vocabulary::wholes())
        if (groups.has(a, whole->name) && groups.has(b, whole->name))
            return std::string(whole->name);
    return "";
}

stats::RatioEstimate speedup_of(const Groups& groups, const Group& base, const Group& group) {
    const std::string time = common_time(groups, base, group);
    return stats::run_ratio(groups.values(base, time), groups.values(group, time));
}

bool is_work(const std::string& key) {
    return vocabulary::find_setting(key) != nullptr &&
           vocabulary::matters_to(vocabulary::SettingUse::group, key) &&
           !vocabulary::setting_row(key).between_ranks;
}

void add_findings(Scaling& scaling, const Groups& groups) {
    add_fastest(scaling, groups);
    add_weak(scaling, groups);
}

void compare_ways(Scaling& scaling, const Groups& groups) {
    Rows rows;
    for (std::size_t i = 0; i < groups.all.size(); ++i)
        if (counts(groups.all[i])) rows.push_back(i);
    if (rows.size() < 2 || !did_the_same_work(groups, rows)) return;
    const std::string time = common_time(groups, groups.all[rows.front()], groups.all[rows.back()]);
    if (!std::ranges::all_of(rows,
                             [&](std::size_t row) { return groups.has(groups.all[row], time); }))
        return;
    const std::size_t base = usual_row(groups, rows);
    for (const std::size_t row : rows) {
        if (row == base) continue;
        scaling.rows[row].strong.baseline = base;
        scaling.rows[row].speedup = speedup_of(groups, groups.all[base], groups.all[row]);
    }
    scaling.findings.push_back(best_of(groups, time, rows, base));
}

void add_best_rate(Scaling& scaling, const Groups& groups) {
    const auto is_other = [](const Group& group) {
        return group.valid() && group.factor("command") != "comm";
    };
    if (std::ranges::any_of(groups.all, is_other)) return;
    for (const auto& name : groups.measurements()) {
        const auto* known = vocabulary::find_quantity(name);
        if (known == nullptr || known->better == vocabulary::Better::neither) continue;
        Rows rows;
        for (std::size_t i = 0; i < groups.all.size(); ++i)
            if (const Group& group = groups.all[i];
                counts(group) && groups.has(group, name) && group.factor("ranks") != "1")
                rows.push_back(i);
        if (rows.size() < 2 || !is_one_work(groups, rows)) continue;
        scaling.findings.push_back(best_of(groups, name, rows, kNoBaseline));
        scaling.findings.back().value += " of " + name;
        return;
    }
}

}  // namespace ranklab::report::model
