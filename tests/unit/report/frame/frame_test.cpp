// Frame and its writers.
#include "report/frame/frame.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "unit/report/outputs.hpp"

namespace ranklab::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Frame sample() {
    Frame frame{.title = "Steps & <b>rates</b>"};
    frame.columns = {{.name = "mode", .role = Role::key},
                     {.name = "ranks"},
                     {.name = "step_time_s", .unit = "s", .interval = true, .head = "step time"},
                     {.name = "peak_rss_bytes", .unit = "B", .head = "memory"}};
    frame.rows = {
        {{"ddp|bucketed", 2.0, Cell(0.0332, {0.0329, 0.0335}), 339738624.0},
         {{CaveatKind::single_run}, {CaveatKind::oversubscribed, "3 compute threads on 2 cores"}}},
        {{"=single", 10.0, Cell(stats::kNone), 1024.0}, {{CaveatKind::single_run}}},
        {{"dp", 1.0, Cell(0.1)}, {}}};
    frame.notes = {"baseline: mode = single, 50 % of it"};
    return frame;
}

TEST(Frame, HasOneColumnPerNameAndRoleAndSelectsSome) {
    Frame frame;
    frame.rows.push_back({{}, {{CaveatKind::single_run}}, {3}});
    frame.put({.name = "threads", .role = Role::key}, "2");
    frame.put({.name = "threads", .role = Role::measured}, 4.0);
    frame.put({.name = "threads", .role = Role::key}, "8");
    ASSERT_EQ(frame.columns.size(), 2U);
    EXPECT_EQ(frame.at(0, frame.find("threads", Role::key)).text, "8");
    const Frame some = frame.select({frame.find("threads", Role::measured), frame.find("none")});
    ASSERT_EQ(some.columns.size(), 1U);
    EXPECT_EQ(some.at(0, std::size_t{0}).number, 4);
    EXPECT_TRUE(some.rows[0].has(CaveatKind::single_run));
    EXPECT_EQ(some.rows[0].members, Places{3});
}

TEST(Frame, IsTheSameInEveryFormat) {
    Outputs all;
    all.add("text", text_of(sample()));
    all.add("CSV", csv_of(sample()));
    all.add("Markdown", markdown_of(sample()));
    all.add("LaTeX", latex_of(sample(), "steps"));
    all.add("HTML", html_of(sample()));
    all.expect("frame.txt");
}

TEST(Frame, GroupsAndSorts) {
    Frame frame = sample();
    frame.rows.push_back({{"dp", 1.0, Cell(0.3)}, {}});
    const auto groups = frame.group_by({frame.find("mode"), frame.find("ranks")});
    ASSERT_EQ(groups.size(), 3U);
    EXPECT_THAT(groups[2].first, ElementsAre("dp", "1"));
    EXPECT_THAT(groups[2].second, ElementsAre(2U, 3U));
    frame.sort({frame.find("ranks")});
    EXPECT_EQ(frame.at(0, "ranks").number, 1);
    EXPECT_EQ(frame.at(3, "ranks").number, 10) << "numbers in their order";
    EXPECT_TRUE(frame.at(0, "nothing").empty());
}

TEST(Frame, IsBrokenIntoBlocksOf80Columns) {
    Frame frame;
    frame.columns = {{.name = "key", .role = Role::key}};
    frame.rows = {{{"row"}, {{CaveatKind::not_verified}}}};
    for (int i = 0; i < 12; ++i) {
        frame.columns.push_back({.name = "a long name " + std::to_string(i), .unit = "s"});
        frame.rows[0].cells.emplace_back(1.5);
    }
    std::istringstream lines(text_of(frame));
    std::size_t keys = 0;
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(line.size(), 80U);
        keys += line.starts_with("  row  1") ? 1 : 0;
    }
    EXPECT_GT(keys, 1U) << "each block has the key and the note";
}

// A results file may come from someone else: its texts must not become markup or commands.
TEST(Frame, ForeignTextStaysText) {
    Frame frame = sample();
    frame.rows[0].cells[0] = "x\x1b[31m\n</td><script>|`@all \xff";
    EXPECT_THAT(text_of(frame), Not(HasSubstr("\x1b")));
    EXPECT_THAT(html_of(frame), Not(HasSubstr("<script")));
    EXPECT_THAT(markdown_of(frame), HasSubstr("\\<script\\>\\|\\`\\@all"));
    EXPECT_THAT(json_line(nlohmann::ordered_json{"\xff"}), HasSubstr("\xEF\xBF\xBD"));
}

TEST(Frame, EveryCellIsEscapedWithItsUnit) {
    Frame frame;
    frame.columns = {{.name = "name", .role = Role::key},
                     {.name = "cpu", .unit = "%"},
                     {.name = "own", .unit = "a|b_{<i>"}};
    frame.rows = {{{"[x]", 20.7, 3.0}, {}}, {{"*", 1.0, 3.0}, {}}};
    const auto latex = latex_of(frame, "a}b_1");
    EXPECT_THAT(latex, HasSubstr("\n{[}x] & 20.7 \\% & "));
    EXPECT_THAT(latex, HasSubstr("\n{*} & "));
    EXPECT_THAT(latex, HasSubstr("a\\textbar{}b\\_\\allowbreak{}\\{\\textless{}i"));
    EXPECT_THAT(latex, HasSubstr("\\label{tab:ab_1}"));
    EXPECT_THAT(markdown_of(frame), HasSubstr("a\\|b\\_\\{\\<i\\> |"));
    EXPECT_THAT(html_of(frame), Not(HasSubstr("<i>")));
}

TEST(Readable, HasThreeDigitsInTheUnitThatPeopleRead) {
    for (const auto& [text, value, unit] :
         std::vector<std::tuple<std::string, double, std::string>>{
             {"33.2 ms", 0.03321, "s"},
             {"1.50 s", 1.5, "s"},
             {"12.3 us", 1.234e-5, "s"},
             {"1.50 ms", 1500, "us"},
             {"324 MiB", 339738624, "B"},
             {"2.00 GiB", 2147483648, "B"},
             {"1.20 GB/s", 1.2, "GB/s"},
             {"50.0 MB/s", 0.05, "GB/s"},
             {"312 MiB/s", 312, "MiB/s"},
             {"1928 samples/s", 1928.4, "samples/s"},
             {"0.982", 0.9821, "1"},
             {"12.3", 12.31, "1"},
             {"n/a", stats::kNone, "s"},
             {"0 B", 0, "B"},
             {"17.2 GiB/s", 17600, "MiB/s"}})
        EXPECT_EQ(readable(value, unit), text);
    EXPECT_EQ(readable(0.0332, {0.0329, 0.0335}, "s"), "33.2 ms (32.9 .. 33.5)");
    EXPECT_EQ(readable(0.0332, {}, "s"), "33.2 ms");
    EXPECT_EQ(size_text(4194304), "4 MiB");
    EXPECT_EQ(size_text(1000), "1000 B");
}

// OT1 fonts set | as a dash, and a long word cannot be broken by itself.
TEST(Latex, HasBarsAndBreaksLongWords) {
    EXPECT_EQ(latex_text("a | b"), "a \\textbar{} b");
    EXPECT_EQ(latex_text("x/y.z"), "x/y.z");
    EXPECT_EQ(latex_text("configs/mnist/ddp_2.ini"),
              "configs/\\allowbreak{}mnist/\\allowbreak{}ddp\\_\\allowbreak{}2.\\allowbreak{}ini");
}

TEST(Sentences, OneRowEach) {
    Outputs all;
    std::string text;
    const Finding finding{.subject = "ranks = 2",
                          .against = "ranks = 1",
                          .value = "33.2 ms",
                          .ratio = {1.5, {1.4, 1.6}},
                          .alike = {"a", "b", "c", "d"},
                          .unit = "core"};
    for (int i = 0; i <= static_cast<int>(Verdict::faster_but_unverified); ++i) {
        Finding one = finding;
        one.verdict = static_cast<Verdict>(i);
        text += name_of(one.verdict) + ": " + sentence(one) + '\n';
    }
    for (int i = 0; i <= static_cast<int>(CaveatKind::said); ++i)
        text += sentence(Caveat{static_cast<CaveatKind>(i), "WHAT"}) + '\n';
    all.add("sentences", text);
    // Rows are found by their place: each is that of its enumerator.
    const std::vector<std::string> names{"fastest",
                                         "baseline_is_fastest",
                                         "undecided",
                                         "single_runs",
                                         "other_load",
                                         "larger_model",
                                         "pays",
                                         "pays_undecided",
                                         "sums_cost",
                                         "sums_cost_undecided",
                                         "scales",
                                         "slows",
                                         "scales_undecided",
                                         "weak_scaling",
                                         "weak_scaling_undecided",
                                         "no_efficiency",
                                         "best_tier",
                                         "all_alike",
                                         "fastest_alone",
                                         "no_intervals",
                                         "fits",
                                         "nothing_verified",
                                         "one_verified",
                                         "faster_but_unverified",
                                         "reaches",
                                         "reaches_undecided",
                                         "reaches_without_interval",
                                         "reaches_nothing",
                                         "reaches_unknown",
                                         "reaches_other_load",
                                         "no_threshold",
                                         "worth",
                                         "not_worth",
                                         "worth_undecided"};
    for (std::size_t i = 0; i < names.size(); ++i)
        EXPECT_EQ(name_of(static_cast<Verdict>(i)), names[i]);
    EXPECT_EQ(name_of(Verdict::reaches_unknown), "reaches_unknown");
    EXPECT_EQ(sentence(Caveat{CaveatKind::cut_short, "time"}), "cut short: time");
    EXPECT_EQ(name_of(Refusal::Why::misses_its_runs), "misses_its_runs");
    EXPECT_EQ(name_of(Refusal::Why::beyond_reach), "beyond_reach");
    all.expect("sentences.txt");
}

TEST(Footnotes, StandOnceEachAndAreNumberedAsMet) {
    Footnotes notes;
    EXPECT_EQ(notes.references({{CaveatKind::single_run}, {CaveatKind::cut_short, "time limit"}}),
              "1 2");
    EXPECT_EQ(notes.references(
                  {{CaveatKind::cut_short, "time limit"}, {CaveatKind::cut_short, "SIGTERM"}}),
              "2 3");
    EXPECT_EQ(notes.lines({}).size(), 3U);
    EXPECT_EQ(notes.references({}), "");
}

}  // namespace
}  // namespace ranklab::report
