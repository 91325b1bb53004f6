// Verdicts: which group is fastest, and how much efficiency weak scaling keeps.
#include "report/model/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/numbers.hpp"
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
    return is_more_better(measurement) ? stats::difference(of_b, of_a, is_rate(measurement))
                                       : stats::difference(of_a, of_b);
}

// The best of at least two rows in a measurement that all of them have; Holm's correction allows
// for comparing it with each. `baseline`: one of the rows, or none.
Finding best_of(const Groups& groups, const std::string& measurement, Rows rows,
                std::optional<std::size_t> baseline, const RowNames& name) {
    std::ranges::stable_sort(rows, {}, [&](std::size_t row) {
        const double value = groups.estimate(row, measurement).number;
        return std::isnan(value) ? HUGE_VAL : is_more_better(measurement) ? -value : value;
    });
    const std::size_t best = rows.front();
    const std::size_t against = best == baseline ? rows[1] : baseline.value_or(rows[1]);
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

RowNames names_in(const Groups& groups) {
    return [&](std::size_t row) { return groups.name(row); };
}

double parameters_of(const Groups& groups, std::size_t group) {
    return base::number_in(groups.factor(group, "training.parameters")).value_or(0);
}

// Whether each model has a default of its own for the setting.
bool is_models_default(const std::string& name) {
    const auto* row = vocabulary::find_setting(name);
    return row != nullptr && !row->fallback && name != setting::kData && !is_batch(name);
}

// Whether the groups did the same work, apart from the key. Trainings must use equally many cores,
// except in other modes or on other devices.
bool same_work(const Groups& groups, const std::string& key, std::size_t a, std::size_t b) {
    const auto is_free = [&](const auto& name) {
        return name == key || name == setting::kStrategy || !is_work(name) || follows(key, name) ||
               (key == setting::kModel && is_models_default(name));
    };
    const Cores own = groups.cores(a), its = groups.cores(b);
    const bool as_many =
        own.known() ? own.count == its.count
                    : groups.factor(a, setting::kRanks) == groups.factor(b, setting::kRanks);
    return std::ranges::all_of(groups.differing(a, b), is_free) &&
           (as_many || groups.command(a) != "train" || follows(key, std::string(setting::kRanks)));
}

// The baseline of a comparison: the usual way, the option's default, the smallest model, else the
// first row.
std::size_t usual_row(const Groups& groups, const std::string& key, const Rows& rows) {
    for (const auto& [of, is_usual] : kUsual)
        for (const std::size_t row : rows)
            if (key == of && groups.says(row, is_usual)) return row;
    const auto& usual = vocabulary::setting_row(key).fallback;
    for (const std::size_t row : rows)
        if (usual && !is_batch(key) && groups.key(row, key) == *usual) return row;
    return *std::ranges::min_element(rows, {},
                                     [&](std::size_t row) { return parameters_of(groups, row); });
}

void add_fastest(Scaling& scaling, const Groups& groups) {
    InsertionOrderedMap<std::size_t, Rows> of_base;
    for (const std::size_t i : groups.all()) {
        const auto base = scaling.baseline(i, false);
        if (!base || scaling.is_weak(i) || !counts(groups, i) || !counts(groups, *base)) continue;
        auto& rows = of_base[*base];
        if (rows.empty()) rows.push_back(*base);
        rows.push_back(i);
    }
    for (auto& rows : of_base.all()) {
        const std::string time = common_time(groups, rows.front(), rows.back());
        std::erase_if(rows, [&](std::size_t row) { return !groups.has(row, time); });
        if (rows.size() > 1)
            scaling.findings.push_back(best_of(groups, time, rows, rows.front(), names_in(groups)));
    }
}

// The parts of a step that take `slow` longer, by at least 1 % of its step, the largest difference
// first. "" unless `slow` has some part that `fast` lacks.
std::string paid(const Groups& groups, std::size_t fast, std::size_t slow) {
    std::vector<std::pair<double, std::string>> more;
    const double step = groups.estimate(slow, vocabulary::kStepTime).number;
    bool other = false;
    for (const auto* part : vocabulary::parts_of(vocabulary::quantity(vocabulary::kStepTime))) {
        const double own = std::fmax(0, groups.estimate(slow, part->name).number),
                     its = std::fmax(0, groups.estimate(fast, part->name).number);
        other = other || (own > 0 && its == 0);
        if (own - its >= 0.01 * step) more.emplace_back(own - its, part->phase);
    }
    std::ranges::sort(more, std::greater());
    std::vector<std::string> parts;
    for (const auto& [seconds, phase] : more)
        parts.push_back(fmt::format("{} for {}", readable(seconds, "s"), phase));
    return other && !parts.empty()
               ? fmt::format("{} of a step of {}", base::join(parts, ", "), readable(step, "s"))
               : "";
}

// Compares the fastest multi-device mode with each other mode on as many cores: the time that the
// slower mode pays.
std::vector<Finding> payments(const Groups& groups, const Comparison& one, const RowNames& name) {
    Rows rows = one.rows;
    std::erase_if(rows, [&](std::size_t row) {
        return groups.says(row, "single_device") || !groups.has(row, vocabulary::kStepTime);
    });
    std::ranges::stable_sort(rows, {}, [&](std::size_t row) {
        return groups.estimate(row, vocabulary::kStepTime).number;
    });
    std::vector<Finding> found;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const std::size_t fast = rows.front(), slow = rows[i];
        if (groups.cores(fast).count != groups.cores(slow).count ||
            groups.factor(fast, setting::kGlobalBatchSize) !=
                groups.factor(slow, setting::kGlobalBatchSize))
            continue;
        const auto ratio = speedup_of(groups, slow, fast);
        const bool firm = ratio.ci.low > 1 && !groups.load(fast).differs_from(groups.load(slow));
        found.push_back({.verdict = firm ? Verdict::pays : Verdict::pays_undecided,
                         .subject = name(fast),
                         .row = fast,
                         .against = name(slow),
                         .value = paid(groups, fast, slow),
                         .ratio = ratio});
    }
    std::erase_if(found, [](const Finding& finding) { return finding.value.empty(); });
    return found;
}

// How much longer a step takes with gradient sums than without.
std::vector<Finding> costs_of_sums(const Groups& groups, const Comparison& one,
                                   const RowNames& name) {
    std::vector<Finding> found;
    for (const std::size_t without : one.unsummed)
        for (const std::size_t row : one.rows) {
            const auto ratio = advantage(groups, one.measurement, without, row).ratio;
            const bool firm = (ratio.ci.low > 1 || ratio.ci.high < 1) &&
                              !groups.load(row).differs_from(groups.load(without));
            found.push_back({.verdict = firm ? Verdict::sums_cost : Verdict::sums_cost_undecided,
                             .subject = name(row),
                             .row = row,
                             .against = name(without),
                             .ratio = ratio});
        }
    return found;
}

// Whether the findings have this verdict on the same rows already.
bool says_already(const std::vector<Finding>& findings, const Finding& finding) {
    return std::ranges::any_of(findings, [&](const Finding& one) {
        return one.verdict == finding.verdict && one.row == finding.row &&
               one.against == finding.against && one.alike == finding.alike;
    });
}

Finding weak_finding(const Scaling& scaling, const Groups& groups, std::size_t row) {
    const std::size_t base = *scaling.baseline(row, true);
    const auto& [text, efficiency, ci] = scaling.at(row, "weak_efficiency");
    Finding finding{.verdict = Verdict::weak_scaling,
                    .subject = groups.name(row),
                    .row = row,
                    .against = groups.name(base),
                    .ratio = {efficiency, ci},
                    .unit = scaling.unit};
    if (std::isnan(efficiency)) {
        finding.verdict = Verdict::no_efficiency;
        finding.value = why_no_efficiency(groups.cores(base), groups.cores(row));
    } else if (std::isnan(ci.low)) {
        finding.verdict = Verdict::weak_scaling_undecided;
        finding.value = "too few runs for an interval";
    } else if (groups.load(base).differs_from(groups.load(row))) {
        finding.verdict = Verdict::weak_scaling_undecided;
        finding.value = "load by other processes differs between them";
    }
    return finding;
}

void add_weak(Scaling& scaling, const Groups& groups) {
    InsertionOrderedMap<std::pair<std::size_t, std::string>, Rows> widest;
    for (const std::size_t i : groups.all()) {
        if (!scaling.is_weak(i) || !counts(groups, i)) continue;
        auto& most = widest[{*scaling.baseline(i, true), scaling.at(i, "curve").text}];
        const double width = most.empty() ? 0 : scaling.width(most.front());
        if (width < scaling.width(i)) most.clear();
        if (width <= scaling.width(i)) most.push_back(i);
    }
    for (const auto& most : widest.all())
        for (const std::size_t i : most)
            scaling.findings.push_back(weak_finding(scaling, groups, i));
}

// Returns the measurement by which the rows are compared: the time, or the rate if batches or files
// differ, else the first one with a good direction. "" if not all rows have it.
std::string compared_in(const Groups& groups, const Rows& rows, bool other_amount) {
    auto names = groups.measurements();
    const bool writes = groups.command(rows.front()) == "io";
    names.insert(names.begin(),
                 other_amount && groups.asked_time().empty()
                     ? std::string(writes ? vocabulary::kWriteRate : vocabulary::kThroughput)
                     : common_time(groups, rows.front(), rows.back()));
    for (const auto& name : names)
        if (const auto* known = vocabulary::find_quantity(name);
            known != nullptr && known->better != vocabulary::Better::neither &&
            std::ranges::all_of(rows, [&](std::size_t row) { return groups.has(row, name); }))
            return name;
    return "";
}

}  // namespace

std::string common_time(const Groups& groups, std::size_t a, std::size_t b) {
    if (const auto asked = groups.asked_time(); groups.has(a, asked) && groups.has(b, asked))
        return asked;
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

bool is_batch(std::string_view key) {
    return key == setting::kBatchSize || key == setting::kGlobalBatchSize;
}

bool follows(const std::string& key, const std::string& name) {
    const bool of_ranks = name == setting::kRanks || name == "nodes" || name == "hosts" ||
                          vocabulary::setting_row(name).between_ranks ||
                          vocabulary::setting_row(name).follows_ranks;
    if (name == "channels-last" || (is_batch(key) && is_batch(name))) return true;
    if (key == setting::kMode || key == setting::kRanks) return of_ranks || is_batch(name);
    if (key == setting::kDevice)
        return of_ranks || name == "devices" || name == "ops" || name.starts_with("host.");
    if (key == setting::kThreads)
        return name == setting::kMpiProgress || name == "training.intra_op_threads";
    const bool sized =
        key == setting::kModel || key == setting::kWidth || key == setting::kPrecision;
    return (sized && (name == "training.parameters" || name.starts_with("training.memory_"))) ||
           (key == setting::kModel && name == "training.structure");
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

std::vector<Comparison> comparisons_over(const Groups& groups, const std::string& key) {
    InsertionOrderedMap<std::string, Comparison> met;
    for (const bool summed : {true, false})
        for (const std::size_t i : groups.all()) {
            const bool alone = groups.factor(i, setting::kRanks) == "1";
            if (!groups.valid(i) || counts(groups, i) != summed ||
                (!summed && key != setting::kSync) || (alone && groups.command(i) == "comm"))
                continue;
            std::string others;
            for (const auto& name : groups.keys())
                if (name != key && !follows(key, name)) others += groups.key(i, name) + '\n';
            auto& [rows, base, measurement, unsummed] = met[others];
            if (same_work(groups, key, rows.empty() ? i : rows.front(), i))
                (summed ? rows : unsummed).push_back(i);
        }
    std::erase_if(met.all(), [&](Comparison& one) {
        const auto& rows = one.rows;
        const auto differ = [&](const auto& value_of) {
            return std::ranges::any_of(
                rows, [&](std::size_t row) { return value_of(row) != value_of(rows.front()); });
        };
        if (rows.empty() || (one.unsummed.empty() &&
                             !differ([&](std::size_t row) { return groups.key(row, key); })))
            return true;
        const bool other_amount = std::ranges::any_of(
            std::array{setting::kGlobalBatchSize, setting::kFiles, setting::kSize},
            [&](auto of) { return differ([&](auto row) { return groups.factor(row, of); }); });
        one.measurement = compared_in(groups, rows, other_amount);
        one.base = usual_row(groups, key, rows);
        return one.measurement.empty();
    });
    return met.all();
}

std::vector<Finding> findings_of(const Groups& groups, const Comparison& one,
                                 const RowNames& name) {
    std::vector<Finding> found;
    const double least = parameters_of(groups, one.base);
    for (const std::size_t row : one.rows)
        if (const double more = parameters_of(groups, row); least > 0 && more > least)
            found.push_back({.verdict = Verdict::larger_model,
                             .subject = name(row),
                             .row = row,
                             .against = name(one.base),
                             .value = digits(more / least),
                             .ratio = advantage(groups, one.measurement, one.base, row).ratio});
    if (!found.empty()) return found;
    if (one.rows.size() == 1) return costs_of_sums(groups, one, name);
    const bool modes =
        groups.has_key(setting::kMode) && std::ranges::any_of(one.rows, [&](std::size_t row) {
            return groups.key(row, setting::kMode) != groups.key(one.base, setting::kMode);
        });
    if (modes) found = payments(groups, one, name);
    if (found.size() + 1 == one.rows.size()) return found;
    const bool timed = groups.command(one.base) != "comm";
    found.insert(found.begin(), best_of(groups, one.measurement, one.rows,
                                        timed ? std::optional(one.base) : std::nullopt, name));
    if (!timed) found.front().value += " of " + one.measurement;
    std::ranges::move(costs_of_sums(groups, one, name), std::back_inserter(found));
    return found;
}

void compare_ways(Scaling& scaling, const Groups& groups) {
    for (const auto& key : groups.keys()) {
        const bool scaled = key == scaling.over && groups.command(0) != "comm";
        if (scaled || std::ranges::count(groups.apart(), key) > 0) continue;
        for (const auto& one : comparisons_over(groups, key)) {
            for (const std::size_t row : one.rows)
                if (scaling.over.empty() && row != one.base && !scaling.baseline(row, false)) {
                    scaling.put(row, "strong_base", one.base);
                    scaling.put(row, "speedup",
                                advantage(groups, one.measurement, row, one.base).ratio);
                }
            for (auto& finding : findings_of(groups, one, names_in(groups)))
                if (!says_already(scaling.findings, finding))
                    scaling.findings.push_back(std::move(finding));
        }
    }
}

}  // namespace ranklab::report::model
