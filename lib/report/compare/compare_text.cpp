#include <fmt/format.h>

#include <cmath>

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "report/compare/compare.hpp"
#include "report/model/text_table.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::compare {
namespace {

std::string side_line(const char* which, const SideSummary& side) {
    const auto listed = [](const char* name, const std::vector<std::string>& values) {
        return values.empty() ? "" : fmt::format(", {} {}", name, base::join(values, " | "));
    };
    return base::one_line(fmt::format("# {}: {}: {}, {} .. {}{}{}{}", which, side.name,
                                      model::counted(side.runs, "run"), side.first_utc, side.last_utc,
                                      listed("label", side.labels), listed("version", side.versions),
                                      listed("revision", side.revisions))) +
           '\n';
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

std::vector<std::string> cells(const CompareRow& row) {
    const auto& [n_a, n_b, estimate, test] = row.difference;
    return {base::one_line(row.measurement),
            base::one_line(row.unit),
            better_name(row.better),
            fmt::format("{}", n_a),
            fmt::format("{}", n_b),
            model::number(row.median_a),
            model::number(row.median_b),
            ratio(estimate.ratio),
            ratio(estimate.ci.low),
            ratio(estimate.ci.high),
            p_text(test.p),
            p_text(row.corrected_p),
            std::isnan(test.effect) ? "n/a" : fmt::format("{:+.2f}", test.effect),
            needed(row),
            outcome_name(row.outcome)};
}

std::string table(const CompareGroup& group) {
    model::TextTable table({"measurement", "<unit", "<better", "n_A", "n_B", "median_A", "median_B", "B/A",
                            "ci95_low", "ci95_high", "p", "p_Holm", "effect", "runs_needed", "<verdict"});
    for (const auto& row : group.rows) table.add(cells(row));
    return fmt::format("{}\n{}\n", base::one_line(group.title), table.text());
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const Gate& gate) {
    std::string text = "# ranklab compare: is B different from A?\n" + side_line("A", comparison.a) +
                       side_line("B", comparison.b);
    text += fmt::format(
        "# smallest change of interest: {:g} %; the unit is the run; Mann-Whitney at 5 %, Holm's correction "
        "over "
        "all rows\n",
        100 * comparison.smallest);
    for (const auto& note : comparison_notes(comparison)) text += "# " + note + '\n';
    text += '\n';
    for (const auto& group : comparison.groups) text += table(group);
    text += fmt::format("Verdict: {}\n", verdict_line(comparison));
    const std::string gate_says = gate_line(comparison, gate);
    if (!gate_says.empty()) text += fmt::format("Gate: {}\n", base::one_line(gate_says));
    return text;
}

}  // namespace ranklab::report::compare
