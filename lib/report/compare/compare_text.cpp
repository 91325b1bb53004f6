#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "base/wrap.hpp"
#include "report/compare/compare.hpp"
#include "report/model/text_table.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::compare {
namespace {

std::string side_text(const char* which, const SideSummary& side) {
    const auto listed = [](const char* name, const std::vector<std::string>& values) {
        return values.empty() ? "" : fmt::format(", {} {}", name, base::join(values, " | "));
    };
    return base::one_line(fmt::format("{}: {}: {}, {} .. {}{}{}{}", which, side.name,
                                      model::counted(side.runs, "run"), side.first_utc, side.last_utc,
                                      listed("label", side.labels), listed("version", side.versions),
                                      listed("revision", side.revisions)));
}

std::string p_text(double p) {
    if (std::isnan(p)) return "n/a";
    return p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", p);
}

std::string ratio(double value) {
    return std::isfinite(value) ? fmt::format("{:.4f}", value) : "n/a";
}

std::string needed(const CompareRow& row) {
    if (row.outcome != Outcome::too_noisy && row.outcome != Outcome::too_few_runs) return "-";
    return row.runs_needed == 0 ? "n/a" : fmt::format("{}", row.runs_needed);
}

std::string interval(const stats::Interval& ci) {
    return std::isfinite(ci.low) ? fmt::format("{:.4f} .. {:.4f}", ci.low, ci.high) : "n/a";
}

// The verdict beside what it is of. A measurement's name has its unit.
std::string table(const CompareGroup& group) {
    std::vector<std::string> heads{"measurement",  "better", "median_A", "median_B", "B/A",    "<verdict",
                                   "95% interval", "n_A",    "n_B",      "p",        "p_Holm", "effect"};
    const bool is_open = std::ranges::any_of(group.rows, [](const auto& row) { return needed(row) != "-"; });
    if (is_open) heads.emplace_back("runs_needed");
    model::TextTable table(std::move(heads));
    for (const auto& row : group.rows) {
        const auto& [n_a, n_b, estimate, test] = row.difference;
        table.add({row.measurement, better_name(row.better), model::number(row.median_a),
                   model::number(row.median_b), ratio(estimate.ratio), outcome_name(row.outcome),
                   interval(estimate.ci), fmt::to_string(n_a), fmt::to_string(n_b), p_text(test.p),
                   p_text(row.corrected_p),
                   std::isnan(test.effect) ? "n/a" : fmt::format("{:+.2f}", test.effect), needed(row)});
    }
    return base::wrapped("", base::one_line(group.title)) + table.text() + '\n';
}

std::string comment(const std::string& text) {
    std::string lines = base::wrapped("", text, base::kScreenColumns - 4);
    lines.pop_back();
    return "# " + base::join(base::split(lines, '\n'), "\n#   ") + '\n';
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const Gate& gate) {
    std::string text = "# ranklab compare: is B different from A?\n";
    text += base::wrapped("Verdict: ", verdict_line(comparison));
    if (const std::string gate_says = gate_line(comparison, gate); !gate_says.empty())
        text += base::wrapped("Gate: ", base::one_line(gate_says));
    text += '\n';
    for (const auto& group : comparison.groups) text += table(group);
    text += comment(side_text("A", comparison.a)) + comment(side_text("B", comparison.b));
    text +=
        comment(fmt::format("smallest change of interest: {:g} %; the unit is the run; Mann-Whitney at 5 %, "
                            "Holm's correction over all rows",
                            100 * comparison.smallest));
    for (const auto& note : comparison_notes(comparison)) text += comment(note);
    return text;
}

}  // namespace ranklab::report::compare
