// What all forms of a comparison say in the same words.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/error.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "report/compare/compare.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::compare {
namespace {

using Lines = std::vector<std::string>;

constexpr std::array kOutcomes{Outcome::worse, Outcome::better,    Outcome::changed,
                               Outcome::same,  Outcome::too_noisy, Outcome::too_few_runs};

std::string of_group(const Comparison& comparison, const CompareGroup& group) {
    return comparison.groups.size() == 1 ? "" : fmt::format(" ({})", group.title);
}

void add_left_out(Lines& lines, const char* which, const SideSummary& side) {
    for (const auto& [reason, runs] : side.left_out)
        lines.push_back(fmt::format("left out of {}: {}: {}", which, model::counted(runs, "run"), reason));
}

void add_groups(Lines& lines, const Comparison& comparison) {
    for (const auto& group : comparison.groups) {
        const std::string where = of_group(comparison, group);
        for (const auto& one : group.differing)
            lines.push_back(fmt::format("{}{}: {} (A: {}; B: {})",
                                        one.allowed ? "allowed to differ" : "differs", where, one.key,
                                        model::some_of(one.a, 4, " | "), model::some_of(one.b, 4, " | ")));
        for (const auto& note : group.notes) lines.push_back(fmt::format("note{}: {}", where, note));
    }
}

void add_needs(Lines& lines, const Comparison& comparison) {
    if (comparison.same_runs()) return;
    if (comparison.count(Outcome::too_noisy) + comparison.count(Outcome::too_few_runs) == 0) return;
    lines.push_back(
        fmt::format("rows without a verdict: runs_needed is how many runs a side find {:g} %, where the "
                    "spread is known; it takes "
                    "at least {}",
                    100 * comparison.smallest, stats::kFewestRuns));
}

const char* rows_word(Outcome outcome) {
    static constexpr std::array kWords{"better",  "worse",     "the same",
                                       "changed", "too noisy", "with too few runs"};
    return kWords[static_cast<std::size_t>(outcome)];
}

std::string rows_text(Outcome outcome, std::size_t rows) {
    const bool few = outcome == Outcome::too_few_runs;
    return fmt::format("{} {}{}", model::counted(rows, "row"), rows_word(outcome),
                       few ? fmt::format(" ({} a side at least)", stats::kFewestRuns) : "");
}

std::string why_open(const Comparison& comparison) {
    return comparison.same_runs() ? "A and B are the same runs; name two sets of runs"
                                  : "the runs are too few or too noisy; measure more";
}

std::string worse_rows(const Comparison& comparison) {
    Lines rows;
    for (const auto& group : comparison.groups) {
        for (const auto& row : group.rows) {
            if (row.outcome == Outcome::worse)
                rows.push_back(fmt::format("{}{} by {:.1f} %", row.measurement, of_group(comparison, group),
                                           100 * std::abs(row.difference.ratio.ratio - 1)));
        }
    }
    return base::join(rows, ", ");
}

}  // namespace

std::string verdict_line(const Comparison& comparison) {
    if (comparison.same_runs())
        return comparison.overall() + ": A and B are the same runs, which proves nothing";
    Lines parts;
    for (const Outcome outcome : kOutcomes) {
        if (const std::size_t rows = comparison.count(outcome); rows > 0)
            parts.push_back(rows_text(outcome, rows));
    }
    if (const std::size_t alone = comparison.only_a.size() + comparison.only_b.size(); alone > 0)
        parts.push_back(model::counted(alone, "configuration") + " without counterpart");
    return comparison.overall() + ": " + base::join(parts, ", ");
}

std::string gate_line(const Comparison& comparison, const Gate& gate) {
    if (!gate.fail_on_regression && !gate.fail_on_inconclusive) return "";
    const int code = exit_code_of(comparison, gate);
    if (code == static_cast<int>(base::ExitCode::below_threshold))
        return fmt::format("failed (exit {}): worse: {}", code, worse_rows(comparison));
    const std::size_t open = comparison.inconclusive();
    if (open == 0) return "passed";
    const std::string what = fmt::format("{} {} no verdict, since {}", model::counted(open, "row"),
                                         open == 1 ? "has" : "have", why_open(comparison));
    return code == 0
               ? fmt::format("passed WITHOUT KNOWING: no row is worse, but {}{}", what, gate.without_knowing)
               : fmt::format("failed (exit {}): {}", code, what);
}

Lines comparison_notes(const Comparison& comparison) {
    Lines lines = comparison.notes;
    add_left_out(lines, "A", comparison.a);
    add_left_out(lines, "B", comparison.b);
    add_groups(lines, comparison);
    for (const auto& title : comparison.only_a) lines.push_back("only A has, so not compared: " + title);
    for (const auto& title : comparison.only_b) lines.push_back("only B has, so not compared: " + title);
    add_needs(lines, comparison);
    for (auto& line : lines) line = base::one_line(line);
    return lines;
}

}  // namespace ranklab::report::compare
