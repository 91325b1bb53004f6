#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "base/one_line.hpp"
#include "report/compare/compare.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::compare {
namespace {

// What a results file holds may come from anywhere: no cell ends early, nothing becomes a link or HTML.
std::string plain(const std::string& text) {
    constexpr std::string_view kSpecial = "\\`*_{}[]<>()#!|~@";
    std::string safe;
    for (const char c : base::one_line(text)) {
        if (kSpecial.find(c) != std::string_view::npos) safe += '\\';
        safe += c;
    }
    return safe;
}

std::string code(const std::string& text) {
    std::string safe = base::one_line(text);
    for (char& c : safe)
        if (c == '`' || c == '|') c = '\'';
    return '`' + safe + '`';
}

std::string change(const stats::RatioEstimate& estimate) {
    if (!std::isfinite(estimate.ratio)) return "n/a";
    const auto percent = [](double ratio) { return fmt::format("{:+.1f}", 100 * (ratio - 1)); };
    if (!std::isfinite(estimate.ci.low)) return percent(estimate.ratio) + " %";
    return fmt::format("{} % ({} .. {})", percent(estimate.ratio), percent(estimate.ci.low),
                       percent(estimate.ci.high));
}

std::string p_text(double p) {
    return std::isnan(p) ? "n/a" : p < 0.0001 ? "< 0.0001" : fmt::format("{:.4f}", p);
}

std::string verdict(const CompareRow& row) {
    const bool bold = row.outcome == Outcome::worse || row.outcome == Outcome::better;
    if (row.runs_needed > 0)
        return fmt::format("{} (runs_needed: {})", outcome_name(row.outcome), row.runs_needed);
    return bold ? fmt::format("**{}**", outcome_name(row.outcome)) : outcome_name(row.outcome);
}

std::string row_line(const CompareRow& row) {
    const auto& [n_a, n_b, estimate, test] = row.difference;
    return fmt::format("| {} | {} | {} | {} | {} | {} | {} / {} | {} |\n", code(row.measurement),
                       plain(row.unit), model::number(row.median_a), model::number(row.median_b),
                       change(estimate), p_text(row.corrected_p), n_a, n_b, verdict(row));
}

std::string table(const CompareGroup& group) {
    std::string text = fmt::format(
        "### {}\n\n| measurement | unit | A | B | change B/A (95 % interval, %) | p (Holm) | runs | verdict "
        "|\n"
        "|---|---|--:|--:|--:|--:|--:|---|\n",
        plain(group.title));
    for (const auto& row : group.rows) text += row_line(row);
    return text + '\n';
}

std::string side(const char* which, const SideSummary& side) {
    std::string text = fmt::format("- {}: {}, {}", which, plain(side.name), model::counted(side.runs, "run"));
    for (const auto& revision : side.revisions) text += fmt::format(", {}", code(revision));
    return text + '\n';
}

}  // namespace

std::string comparison_markdown(const Comparison& comparison, const Gate& gate) {
    std::string text = fmt::format("## ranklab compare: {}\n\n", verdict_line(comparison));
    const std::string gate_says = gate_line(comparison, gate);
    if (!gate_says.empty()) text += fmt::format("Gate {}\n\n", plain(gate_says));
    text += side("A", comparison.a) + side("B", comparison.b);
    text += fmt::format("- smallest change of interest: {:g} %; the unit is the run\n\n",
                        100 * comparison.smallest);
    for (const auto& group : comparison.groups) text += table(group);
    for (const auto& note : comparison_notes(comparison)) text += "- " + plain(note) + '\n';
    return text;
}

}  // namespace ranklab::report::compare
