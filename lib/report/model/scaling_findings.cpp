#include "report/model/scaling_findings.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/frame/readable.hpp"
#include "report/model/baselines.hpp"
#include "report/model/values.hpp"
#include "stats/interval.hpp"

namespace ranklab::report::model {
namespace {

// Which of some rows is best at a measurement, and whether their runs tell.
class Best {
  public:
    Best(const Groups& groups, std::string measurement, bool more)
        : groups_(groups), measurement_(std::move(measurement)), more_(more) {}

    /// `baseline`: one of the rows, or kNoBaseline. The rows have the measurement.
    Finding of(std::vector<std::size_t> rows, std::size_t baseline) const {
        std::ranges::stable_sort(rows, {}, [&](std::size_t row) {
            const double value = groups_.estimate(groups_.all[row], measurement_).value;
            return std::isnan(value) ? HUGE_VAL : more_ ? -value : value;
        });
        const std::size_t best = rows.front();
        const bool is_base = best == baseline || baseline == kNoBaseline;
        const std::size_t against = is_base ? rows[1] : baseline;
        const Estimate found = groups_.estimate(groups_.all[best], measurement_);
        Finding finding{.verdict = best == baseline ? Verdict::fastest_of_others : Verdict::fastest,
                        .subject = groups_.name(groups_.all[best]),
                        .row = best,
                        .against = groups_.name(groups_.all[against]),
                        .value = readable(found.value, found.unit),
                        .ratio = ratio(best, against)};
        bool known = true;
        for (std::size_t i = 1; i < rows.size(); ++i) {
            const auto to = ratio(best, rows[i]);
            known = known && !std::isnan(to.ci.low);
            if (!(to.ci.low > 1)) finding.alike.push_back(groups_.name(groups_.all[rows[i]]));
        }
        if (!known)
            finding.verdict = Verdict::single_runs;
        else if (!finding.alike.empty())
            finding.verdict = Verdict::undecided;
        return finding;
    }

  private:
    // Above 1 where a is better. What many rows are compared in needs more than 95 % each.
    stats::RatioEstimate ratio(std::size_t a, std::size_t b) const {
        const auto of_a = groups_.values(groups_.all[a], measurement_),
                   of_b = groups_.values(groups_.all[b], measurement_);
        return more_ ? stats::run_ratio(of_a, of_b) : stats::run_ratio(of_b, of_a);
    }

    const Groups& groups_;
    std::string measurement_;
    bool more_;
};

}  // namespace

bool counts(const Group& group) {
    return group.valid() && !group.not_summed;
}

Finding best_of(const Groups& groups, const std::string& measurement, std::vector<std::size_t> rows,
                std::size_t baseline) {
    const auto* known = vocabulary::find_quantity(measurement);
    const bool more = known != nullptr && known->better == vocabulary::Better::more;
    return Best(groups, measurement, more).of(std::move(rows), baseline);
}

void add_fastest(Scaling& scaling, const Groups& groups) {
    InOrderMet<std::size_t, std::vector<std::size_t>> of_base;
    for (std::size_t i = 0; i < scaling.rows.size(); ++i) {
        const Against& strong = scaling.rows[i].strong;
        if (!strong.exists() || scaling.rows[i].is_weak() || !counts(groups.all[i]) ||
            !counts(groups.all[strong.baseline]))
            continue;
        auto& rows = of_base[strong.baseline];
        if (rows.empty()) rows.push_back(strong.baseline);
        rows.push_back(i);
    }
    for (auto& rows : of_base.all()) {
        const std::string time = common_time(groups, groups.all[rows.front()], groups.all[rows.back()]);
        std::erase_if(rows, [&](std::size_t row) { return !groups.has(groups.all[row], time); });
        if (rows.size() > 1) scaling.findings.push_back(best_of(groups, time, rows, rows.front()));
    }
}

void add_weak(Scaling& scaling, const Groups& groups) {
    const Baselines baselines(groups, scaling.over);
    InOrderMet<std::pair<std::size_t, CurveKey>, std::vector<std::size_t>> widest;
    for (std::size_t i = 0; i < scaling.rows.size(); ++i) {
        if (!scaling.rows[i].is_weak() || !counts(groups.all[i])) continue;
        auto& most = widest[{scaling.rows[i].weak.baseline, baselines.key_of(i)}];
        if (!most.empty() && baselines.width(most.front()) < baselines.width(i)) most.clear();
        if (most.empty() || baselines.width(most.front()) == baselines.width(i)) most.push_back(i);
    }
    for (const auto& most : widest.all())
        for (const std::size_t i : most) {
            const auto& efficiency = scaling.rows[i].weak.efficiency;
            Finding finding{.verdict = Verdict::weak_scaling,
                            .subject = groups.name(groups.all[i]),
                            .row = i,
                            .against = groups.name(groups.all[scaling.rows[i].weak.baseline]),
                            .ratio = efficiency,
                            .unit = scaling.unit};
            if (std::isnan(efficiency.ratio)) {
                finding.verdict = Verdict::no_efficiency;
                finding.value =
                    why_no_efficiency(groups.all[scaling.rows[i].weak.baseline].cores, groups.all[i].cores);
            } else if (std::isnan(efficiency.ci.low)) {
                finding.verdict = Verdict::weak_scaling_undecided;
            }
            scaling.findings.push_back(finding);
        }
}

void add_best_rate(Scaling& scaling, const Groups& groups) {
    for (const auto& name : groups.measurements()) {
        const auto* known = vocabulary::find_quantity(name);
        std::vector<std::size_t> rows;
        for (std::size_t i = 0; i < groups.all.size(); ++i)
            if (counts(groups.all[i]) && groups.has(groups.all[i], name)) rows.push_back(i);
        const auto is_key = [&](const std::string& factor) {
            return std::ranges::find(groups.keys, factor) != groups.keys.end() || !is_work(factor);
        };
        std::erase_if(rows, [&](std::size_t row) { return groups.all[row].factor("ranks") == "1"; });
        const bool other_work = std::ranges::any_of(rows, [&](std::size_t row) {
            return !differing_factors(groups.all[rows.front()], groups.all[row], is_key).empty();
        });
        if (rows.size() < 2 || other_work || known == nullptr || known->better == vocabulary::Better::neither)
            continue;
        Finding finding = best_of(groups, name, rows, kNoBaseline);
        finding.value += " of " + name;
        scaling.findings.push_back(std::move(finding));
        return;
    }
}

}  // namespace ranklab::report::model
