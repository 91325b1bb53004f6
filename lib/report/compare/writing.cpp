// Writes a comparison as text, JSON and Markdown.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "report/compare/compare.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::compare {
namespace {

using Json = nlohmann::ordered_json;
using Lines = std::vector<std::string>;

// The third cell follows the number of rows: "3 rows with too few runs".
const std::vector<std::string>& words_of(Outcome outcome) {
    return sentence_row("outcome", base::number_of(outcome));
}

std::string better_name(vocabulary::Better better) {
    static constexpr std::array kNames{"lower", "higher", "-"};
    return kNames[static_cast<std::size_t>(better)];
}

std::string overall_name(const Comparison& comparison) {
    const auto outcome = comparison.overall();
    return outcome ? name_of(*outcome) : "inconclusive";
}

std::string verdict_line(const Comparison& comparison) {
    if (comparison.same_runs()) return overall_name(comparison) + ": A and B are the same runs";
    Lines parts;
    for (const Outcome outcome : {Outcome::worse, Outcome::better, Outcome::changed, Outcome::same,
                                  Outcome::too_noisy, Outcome::too_few_runs, Outcome::other_load})
        if (const std::size_t rows = comparison.count(outcome); rows > 0)
            parts.push_back(counted(rows, "row") + " " + words_of(outcome)[2]);
    if (const std::size_t alone = comparison.only_a.size() + comparison.only_b.size(); alone > 0)
        parts.push_back(counted(alone, "configuration") + " without counterpart");
    return overall_name(comparison) + ": " + base::join(parts, ", ");
}

std::string of_group(const Comparison& comparison, const CompareGroup& group) {
    return comparison.groups.size() == 1 ? "" : fmt::format(" ({})", group.title);
}

// The settings and facts in which A and B differ.
Lines differences_of(const Comparison& comparison) {
    Lines lines;
    for (const auto& group : comparison.groups)
        for (const auto& one : group.differing)
            lines.push_back(base::one_line(fmt::format(
                "{}{}: {} (A: {}; B: {})", one.allowed ? "allowed to differ" : "differs",
                of_group(comparison, group), one.key, some_of(one.a, 4, " | "),
                some_of(one.b, 4, " | "))));
    return lines;
}

Lines notes_of(const Comparison& comparison) {
    Lines lines;
    for (const auto& [which, side] : {std::pair{"A", &comparison.a}, {"B", &comparison.b}})
        for (const auto& one : side->left_out)
            lines.push_back(
                fmt::format("left out of {}: {}: {}", which, counted(one.runs, "run"), one.reason));
    for (const auto& group : comparison.groups) {
        const std::string where = of_group(comparison, group);
        for (const auto& note : group.notes)
            lines.push_back(fmt::format("note{}: {}", where, note));
    }
    for (const auto& title : comparison.only_a) lines.push_back("only A has: " + title);
    for (const auto& title : comparison.only_b) lines.push_back("only B has: " + title);
    if (!comparison.same_runs() &&
        comparison.count(Outcome::too_noisy) + comparison.count(Outcome::too_few_runs) > 0)
        lines.push_back(
            fmt::format("runs_needed: runs per side that would detect {:g} %; at least {}",
                        100 * comparison.min_effect, stats::kFewestRuns));
    for (auto& line : lines) line = base::one_line(line);
    return lines;
}

std::string p_text(double p) {
    return std::isnan(p) ? "n/a" : p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", p);
}

Frame frame_of(const CompareGroup& group) {
    Frame frame{.title = group.title};
    frame.columns = columns_of(
        "measurement* | ratio+- [1] B/A | verdict | better | runs | A | B | p_holm p (Holm) | "
        "effect | runs_needed");
    for (const auto& row : group.rows) {
        const auto& [n_a, n_b, estimate, test] = row.difference;
        const std::string needed = !row.is_open()         ? ""
                                   : row.runs_needed == 0 ? "n/a"
                                                          : fmt::to_string(row.runs_needed);
        frame.rows.push_back(
            {{row.measurement, Cell(estimate.ratio, estimate.ci), name_of(row.outcome),
              better_name(row.better), fmt::format("{}, {}", n_a, n_b),
              readable(row.median_a, row.unit), readable(row.median_b, row.unit),
              p_text(row.corrected_p),
              std::isnan(test.effect) ? "n/a" : fmt::format("{:+.2f}", test.effect), needed},
             {}});
    }
    frame.drop_empty_columns();
    return frame;
}

std::string side_text(const char* which, const SideSummary& side) {
    const auto listed = [](const char* name, const Lines& values) {
        return values.empty() ? "" : fmt::format(", {} {}", name, base::join(values, " | "));
    };
    return fmt::format("{}: {}: {}, {} .. {}{}{}{}", which, side.name, counted(side.runs, "run"),
                       side.first_utc, side.last_utc, listed("label", side.labels),
                       listed("version", side.versions), listed("revision", side.revisions));
}

Lines sides_and_method(const Comparison& comparison) {
    return {side_text("A", comparison.a), side_text("B", comparison.b),
            fmt::format(
                "smallest change of interest: {:g} %; one value per launch; Mann-Whitney at 5 %, "
                "Holm's correction over all rows",
                100 * comparison.min_effect)};
}

Json row_json(const CompareRow& row) {
    const auto& [n_a, n_b, estimate, test] = row.difference;
    return {{"measurement", row.measurement},
            {"unit", row.unit},
            {"better", better_name(row.better)},
            {"n_a", n_a},
            {"n_b", n_b},
            {"median_a", row.median_a},
            {"median_b", row.median_b},
            {"ratio", estimate.ratio},
            {"ci95_low", estimate.ci.low},
            {"ci95_high", estimate.ci.high},
            {"p", test.p},
            {"p_holm", row.corrected_p},
            {"effect", test.effect},
            {"verdict", name_of(row.outcome)},
            {"runs_needed", row.runs_needed == 0 ? Json(nullptr) : Json(row.runs_needed)}};
}

Json group_json(const CompareGroup& group) {
    Json settings = Json::object(), differing = Json::array(), rows = Json::array();
    for (const auto& [key, value] : group.conditions)
        if (key != "command") settings[key] = value;
    for (const auto& one : group.differing)
        differing.push_back(
            {{"key", one.key}, {"a", one.a}, {"b", one.b}, {"allowed", one.allowed}});
    for (const auto& row : group.rows) rows.push_back(row_json(row));
    return {{"command", group.command()}, {"title", group.title},       {"settings", settings},
            {"runs_a", group.a.size()},   {"runs_b", group.b.size()},   {"differing", differing},
            {"notes", group.notes},       {"findings", group.findings}, {"rows", rows}};
}

Json side_json(const SideSummary& side) {
    Json left_out = Json::array();
    for (const auto& one : side.left_out)
        left_out.push_back({{"reason", one.reason}, {"runs", one.runs}});
    return {{"name", side.name},           {"runs", side.runs},     {"first_utc", side.first_utc},
            {"last_utc", side.last_utc},   {"labels", side.labels}, {"versions", side.versions},
            {"revisions", side.revisions}, {"left_out", left_out}};
}

}  // namespace

std::string name_of(Outcome outcome) {
    return words_of(outcome)[1];
}

std::string gate_line(const Comparison& comparison, const Gate& gate) {
    if (!gate.fail_on_regression && !gate.strict) return "";
    const int code = exit_code_of(comparison, gate);
    Lines worse;
    for (const auto& group : comparison.groups)
        for (const auto& row : group.rows)
            if (row.outcome == Outcome::worse)
                worse.push_back(fmt::format("{}{} by {:.1f} %", row.measurement,
                                            of_group(comparison, group),
                                            100 * std::abs(row.difference.ratio.ratio - 1)));
    if (code == static_cast<int>(base::ExitCode::below_threshold))
        return fmt::format("failed (exit {}): worse: {}", code, base::join(worse, ", "));
    if (comparison.inconclusive() == 0) return "passed";
    const char* const why = comparison.same_runs() ? "A and B are the same runs"
                            : comparison.count(Outcome::other_load) > 0
                                ? "load by other processes differs between A and B"
                                : "too noisy or too few runs to judge";
    return code == 0 ? fmt::format("undecided (exit 0): {}; --strict makes this a failure", why)
                     : fmt::format("failed (exit {}): undecided: {}; measure more", code, why);
}

std::string comparison_text(const Comparison& comparison, const Gate& gate) {
    std::string text;
    for (const auto& line : differences_of(comparison)) text += base::wrapped("# ", line);
    for (const auto& group : comparison.groups) text += text_of(frame_of(group)) + '\n';
    for (const auto& lines : {sides_and_method(comparison), notes_of(comparison)})
        for (const auto& line : lines) text += base::wrapped("# ", base::one_line(line));
    for (const auto& group : comparison.groups)
        for (const auto& finding : group.findings) text += base::wrapped("", finding);
    text += base::wrapped("Verdict: ", base::one_line(verdict_line(comparison)));
    const std::string gate_says = gate_line(comparison, gate);
    return gate_says.empty() ? text : text + base::wrapped("Gate: ", base::one_line(gate_says));
}

std::string comparison_markdown(const Comparison& comparison, const Gate& gate) {
    std::string text = fmt::format("## ranklab compare: {}\n\n", verdict_line(comparison));
    if (const std::string gate_says = gate_line(comparison, gate); !gate_says.empty())
        text += fmt::format("Gate {}\n\n", markdown_text(gate_says));
    for (const auto& line : differences_of(comparison)) text += "- " + markdown_text(line) + '\n';
    for (const auto& line : sides_and_method(comparison)) text += "- " + markdown_text(line) + '\n';
    for (const auto& group : comparison.groups)
        text +=
            fmt::format("\n### {}\n\n", markdown_text(group.title)) + markdown_of(frame_of(group));
    for (const auto& group : comparison.groups)
        for (const auto& finding : group.findings)
            text += fmt::format("\n{}\n", markdown_text(finding));
    text += '\n';
    for (const auto& note : notes_of(comparison)) text += "- " + markdown_text(note) + '\n';
    return text;
}

// nlohmann::json writes NaN and infinities as null.
std::string comparison_json(const Comparison& comparison, const Gate& gate) {
    Json groups = Json::array();
    for (const auto& group : comparison.groups) groups.push_back(group_json(group));
    const Json json{
        {"schema", 1},
        {"smallest", comparison.min_effect},
        {"a", side_json(comparison.a)},
        {"b", side_json(comparison.b)},
        {"groups", groups},
        {"only_a", comparison.only_a},
        {"only_b", comparison.only_b},
        {"notes", notes_of(comparison)},
        {"verdict", overall_name(comparison)},
        {"inconclusive", comparison.inconclusive()},
        {"gate",
         {{"fail_on_regression", gate.fail_on_regression}, {"fail_on_inconclusive", gate.strict}}},
        {"exit_code", exit_code_of(comparison, gate)}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace ranklab::report::compare
