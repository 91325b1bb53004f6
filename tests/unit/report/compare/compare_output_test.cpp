// How a comparison is said: every form has the same numbers, none can be broken by what a results file holds.
#include "report/compare/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "unit/report/compare_sample.hpp"

namespace ranklab::report::compare {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

Comparison of(double centre_b, std::size_t runs_b = 6) {
    return compare(steady_side("A", 6, 0.1), steady_side("B", runs_b, centre_b), {});
}

std::string line_with(const std::string& text, const std::string& beginning) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.find(beginning) != std::string::npos) return line;
    }
    return "";
}

TEST(CompareOutput, TheTextHasOneRowAMeasurement) {
    const std::string text = comparison_text(of(0.12), {true, false});
    EXPECT_THAT(line_with(text, "# A:"),
                HasSubstr("A: A: 6 runs, 2026-11-21T10:00:00Z .. 2026-11-21T10:10:00Z"));
    EXPECT_THAT(text, HasSubstr("smallest change of interest: 3 %"));
    EXPECT_THAT(line_with(text, "  step_time_s"),
                MatchesRegex("  step_time_s +lower +0\\.1 +0\\.12 +1\\.2000 +worse +[0-9.]+ \\.\\. [0-9.]+"));
    EXPECT_THAT(text, ContainsRegex("\n  step_time_s +6 +6 +0\\.00[0-9]+ +0\\.00[0-9]+ +\\+1\\.00\n"));
    EXPECT_THAT(text, HasSubstr("\nVerdict: worse: 1 row worse\n"));
    EXPECT_THAT(text, HasSubstr("\nGate: failed (exit 4): worse: step_time_s by 20.0 %\n"));
}

TEST(CompareOutput, AGateThatCannotTellSaysSo) {
    const auto few = of(0.12, 4);
    EXPECT_THAT(comparison_text(few, {true, false}),
                AllOf(HasSubstr("Gate: passed WITHOUT KNOWING: no row is worse, but 1 row has no verdict"),
                      HasSubstr("too few runs")));
    EXPECT_THAT(gate_line(few, {true, true}), HasSubstr("failed (exit 7)"));
    EXPECT_EQ(gate_line(of(0.1), {true, false}), "passed");
    EXPECT_EQ(gate_line(few, {}), "");
}

// Of six runs a side: rows that were made up, a row each outcome.
Comparison with_outcomes(const std::vector<Outcome>& outcomes) {
    Comparison comparison = of(0.1);
    auto& rows = comparison.groups.front().rows;
    rows.resize(outcomes.size(), rows.front());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].outcome = outcomes[i];
    return comparison;
}

TEST(CompareOutput, TheVerdictCountsRows) {
    EXPECT_EQ(verdict_line(with_outcomes({Outcome::too_noisy, Outcome::worse, Outcome::too_noisy})),
              "worse: 1 row worse, 2 rows too noisy");
    EXPECT_EQ(verdict_line(with_outcomes(std::vector<Outcome>(3, Outcome::too_few_runs))),
              "inconclusive: 3 rows with too few runs (5 a side at least)");
    EXPECT_EQ(verdict_line(with_outcomes({Outcome::same, Outcome::better})),
              "better: 1 row better, 1 row the same");
    Comparison alone = with_outcomes({Outcome::same});
    alone.only_b = {"io", "train"};
    EXPECT_EQ(verdict_line(alone), "inconclusive: 1 row the same, 2 configurations without counterpart");
}

TEST(CompareOutput, OfTheSameRunsTheVerdictSaysSo) {
    const Side a = noisy_side("A", 6, 0.1, 0.2, 3);
    const auto twice = compare(a, a, {});
    ASSERT_EQ(twice.groups.front().rows.front().outcome, Outcome::too_noisy);
    const std::string said = "inconclusive: A and B are the same runs, which proves nothing";
    EXPECT_EQ(verdict_line(twice), said);
    EXPECT_THAT(comparison_markdown(twice, {}), HasSubstr("## ranklab compare: " + said + "\n"));
    EXPECT_THAT(gate_line(twice, {true, false}), HasSubstr("since A and B are the same runs; name two sets"));
    EXPECT_THAT(comparison_text(twice, {true, true}),
                AllOf(HasSubstr("failed (exit 7)"), Not(HasSubstr("measure more")),
                      Not(HasSubstr("how many runs a side find"))));
    Side more = a;
    more.runs.push_back(noisy_side("B", 1, 0.1, 0.2, 4).runs.front());
    EXPECT_THAT(verdict_line(compare(a, more, {})), HasSubstr("1 row too noisy"));
}

TEST(CompareOutput, RunsNeededAreSaid) {
    const auto noisy = compare(noisy_side("A", 6, 0.1, 0.05, 3), noisy_side("B", 6, 0.105, 0.05, 4), {});
    const auto& row = noisy.groups.front().rows.front();
    ASSERT_EQ(row.outcome, Outcome::too_noisy);
    const std::string text = comparison_text(noisy, {});
    EXPECT_THAT(text, HasSubstr("runs_needed is how many runs a side find 3 %"));
    EXPECT_THAT(line_with(text, "  step_time_s"), HasSubstr("  too noisy  "));
    EXPECT_THAT(text, ContainsRegex(fmt::format("runs_needed\n  step_time_s .* {}\n", row.runs_needed)));
    EXPECT_THAT(comparison_markdown(noisy, {}),
                HasSubstr(fmt::format("too noisy (runs_needed: {})", row.runs_needed)));
    const auto unknown = compare(steady_side("A", 1, 0.1), steady_side("B", 1, 0.1), {});
    EXPECT_THAT(comparison_text(unknown, {}), ContainsRegex("runs_needed\n  step_time_s .* n/a\n"));
}

TEST(CompareOutput, JsonHasTheSameNumbers) {
    const auto comparison = of(0.12);
    const auto json = nlohmann::json::parse(comparison_json(comparison, {true, false}));
    const auto& row = json["groups"][0]["rows"][0];
    EXPECT_EQ(row["verdict"], "worse");
    EXPECT_EQ(row["p"].get<double>(), comparison.groups[0].rows[0].difference.test.p);
    EXPECT_EQ(row["ratio"].get<double>(), comparison.groups[0].rows[0].difference.ratio.ratio);
    EXPECT_TRUE(row["runs_needed"].is_null());
    EXPECT_EQ(json["exit_code"], 4);
    EXPECT_EQ(json["groups"][0]["settings"]["model"], "mnist-cnn");
}

TEST(CompareOutput, NumbersThatAreNoneAreNullInJson) {
    const auto json = nlohmann::json::parse(comparison_json(of(0.12, 2), {}));
    EXPECT_TRUE(json["groups"][0]["rows"][0]["ci95_low"].is_null());
    EXPECT_TRUE(json["groups"][0]["rows"][0]["p_holm"].is_null());
}

TEST(CompareOutput, MarkdownHasAVerdictAndATable) {
    const std::string text = comparison_markdown(of(0.12), {true, false});
    EXPECT_THAT(text, AllOf(HasSubstr("## ranklab compare: worse: 1 row worse"), HasSubstr("| **worse** |"),
                            HasSubstr("| `step_time_s` | s | 0.1 | 0.12 | +20.0 % (")));
}

TEST(CompareOutput, HostileTextDoesNotBreakOut) {
    Side a = steady_side("A", 5, 0.1), b = steady_side("B", 5, 0.1);
    for (Side* side : {&a, &b}) {
        set(*side, "model", "x\x1b[31m\n| <script> `y` @all");
        for (auto& run : side->runs) {
            run.label = "l\nVerdict: same";
            run.measurements.front().name = "t|`\n<b>";
        }
    }
    const auto comparison = compare(a, b, {.measurements = {"all"}});
    const std::string text = comparison_text(comparison, {});
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\nVerdict: same\n")));
    const std::string markdown = comparison_markdown(comparison, {});
    EXPECT_THAT(markdown, AllOf(HasSubstr("\\<script\\>"), HasSubstr("\\@all"), HasSubstr("`t'' <b>`")));
    EXPECT_TRUE(nlohmann::json::accept(comparison_json(comparison, {})));
}

}  // namespace
}  // namespace ranklab::report::compare
