#include "report/html.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.hpp"
#include "report/html_figure.hpp"
#include "report/html_text.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::report {
namespace {

using results::ResultFile;
using results::sample_run;
using results::StoredRun;
using testing::HasSubstr;
using testing::Not;

TEST(Escape, LeavesNoMarkup) {
    EXPECT_EQ(escape("<a href=\"x\">'&"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
    EXPECT_EQ(escape("süß"), "süß");
}

TEST(Escape, ReplacesWhatWouldMoveOrHideText) {
    EXPECT_EQ(escape(std::string("a\0b", 3)), "a\uFFFDb");
    EXPECT_EQ(escape("a\x1b[31mb"), "a\uFFFD[31mb");
    EXPECT_EQ(escape("a\nb"), "a b");
    EXPECT_EQ(escape("a\u202Eb"), "a\uFFFDb");  // from right to left from here on
    EXPECT_EQ(escape("\xff\xc0\xaf"), "\uFFFD\uFFFD\uFFFD");
    EXPECT_EQ(escape("\xed\xa0\x80"), "\uFFFD");        // half of a surrogate pair
    EXPECT_EQ(escape("ab\xe2\x82"), "ab\uFFFD\uFFFD");  // cut off
}

TEST(Escape, CutsLongTextsBetweenLetters) {
    EXPECT_EQ(escape("äöüß", 3), "äöü…");
    EXPECT_EQ(escape("äöü", 3), "äöü");
}

TEST(NumberHtml, SaysWhereItStandsAndEveryDigit) {
    StoredRun run = sample_run();
    run.measurements[1].summary.median = 3200.0625;
    const std::string text = number_html(run, run.measurements[1], "median");
    EXPECT_THAT(text, HasSubstr("data-value=\"3200.0625\""));
    EXPECT_THAT(text, HasSubstr("data-run=\"20261121T101500Z-3f9a1c\" data-name=\"throughput_samples_per_s\" "
                                "data-field=\"median\""));
    EXPECT_THAT(text, HasSubstr(">3200</data>"));
    EXPECT_THAT(number_html(run, run.measurements[1], "p99"),
                HasSubstr("n/a"));  // NaN has no place to look up
}

TEST(InlineSvg, HasNoColoursOrNamesOfItsOwn) {
    const std::string svg =
        "<?xml version=\"1.0\"?>\n<svg \n viewBox=\"0 0 560 360\"\n xmlns=\"http://www.w3.org/2000/svg\">\n"
        "<title>Gnuplot</title>\n<g id=\"gnuplot_canvas\">\n<rect x=\"0\" y=\"0\" width=\"560\" "
        "height=\"360\" "
        "fill=\"none\"/>\n<circle id='gpDot' r='0.5'/>\n<g fill=\"none\" color=\"black\" "
        "stroke=\"currentColor\"><path stroke='black' d='M1,1'/><path stroke='gray'/></g>\n"
        "<use xlink:href='#gpPt6' color='rgb(  0, 114, 178)'/><path stroke='rgb(  0,   0,   "
        "0)'/></g>\n</svg>\n";
    const std::string text = inline_svg(svg, "weak");
    for (const char* const gone :
         {"black", "'gray'", "rgb(", "http", "xml", "Gnuplot", "<rect", "color=\"black"})
        EXPECT_THAT(text, Not(HasSubstr(gone))) << gone;
    EXPECT_THAT(text, HasSubstr("<svg viewBox=\"0 0 560 360\" role=\"img\" aria-labelledby=\"cap-weak\">"));
    EXPECT_THAT(text, HasSubstr("<use href='#weak-gpPt6' color='var(--s1)'/>"));
    EXPECT_THAT(text, HasSubstr("id='weak-gpDot'"));
    EXPECT_EQ(inline_svg("no picture", "weak"), "");
}

class HtmlPage : public testing::Test {
  protected:
    std::string page(const std::vector<StoredRun>& runs, Choice choice = {}) {
        for (const auto& run : runs) ResultFile(folder_ / "r.h5").append(run);
        return html_page(ChosenRuns(ResultFile(folder_ / "r.h5"), std::move(choice)));
    }
    results::TempFolder folder_;
};

// A rank alone or several, each with its own 32 samples, as ranklab-train stores them.
StoredRun weak_run(const std::string& id, int ranks, double step_s) {
    StoredRun run = sample_run(id);
    run.config = {{"model", "mnist-cnn", false},
                  {"mode", ranks == 1 ? "single" : "ddp", false},
                  {"sync", ranks == 1 ? "none" : "bucketed", false},
                  {"batch-size", "32", true},
                  {"global-batch-size", std::to_string(32 * ranks), true}};
    run.hosts.resize(static_cast<std::size_t>(ranks), run.hosts.front());
    run.measurements = {results::step_time(20, static_cast<std::size_t>(ranks)),
                        results::throughput(32 * ranks / step_s, 30 * ranks / step_s, 33 * ranks / step_s)};
    for (double& sample : run.measurements[0].samples) sample = step_s + 1e-3 * (sample - 0.01);
    run.measurements[0].summary = stats::summarise(run.measurements[0].samples);
    return run;
}

TEST_F(HtmlPage, NothingThatTheFileHoldsIsMarkup) {
    StoredRun run = sample_run();
    run.label = "</title><script>alert(1)</script>";
    run.warnings = {"<img src=x onerror=alert(2)>", std::string(5000, 'w')};
    run.config.push_back({"model", "\"><script>", false});
    run.hosts[0].host = "<b>node";
    run.context.push_back({"host", "<i>key", "value\x1b[2J"});
    run.measurements.push_back(results::one_value("<u>name", "<s>", results::Kind::cost, {1}));
    const std::string text = page({run});
    for (const char* const bad : {"<script", "<img", "<b>node", "<i>key", "<u>name", "<s>", "\x1b"})
        EXPECT_THAT(text, Not(HasSubstr(bad))) << bad;
    EXPECT_THAT(text, HasSubstr("&lt;img src=x"));
    EXPECT_THAT(text, Not(HasSubstr(std::string(1000, 'w'))));
}

TEST_F(HtmlPage, NeedsNothingFromElsewhere) {
    const std::string text = page({sample_run()});
    for (const char* const bad : {"http:", "https:", "<link", "@import", "url(", "<script", " src="})
        EXPECT_THAT(text, Not(HasSubstr(bad))) << bad;
}

TEST_F(HtmlPage, DrawsWeakScalingWithItsBase) {
    const std::string text =
        page({weak_run("20261121T101500Z-000001", 1, 0.010), weak_run("20261121T101500Z-000002", 2, 0.0125)});
    EXPECT_THAT(text, HasSubstr("id=\"fig-weak_throughput\""));
    EXPECT_THAT(text, HasSubstr("id=\"fig-weak_efficiency\""));
    EXPECT_THAT(text, Not(HasSubstr("id=\"fig-strong_throughput\"")));  // another global batch at each point
    EXPECT_THAT(text,
                HasSubstr("data-derived=\"T(1) / T(2), T = median step_time_s of run 20261121T101500Z-000001 "
                          "and run 20261121T101500Z-000002; interval by bootstrap over steps\""));
    EXPECT_THAT(text, HasSubstr(">0.8</data>"));  // 0.010 / 0.0125; the samples' spread is 1e-6 of it
}

TEST_F(HtmlPage, NumbersOfInvalidRunsAreNotShown) {
    StoredRun run = sample_run();
    run.valid = false;
    run.exit_code = 3;
    run.warnings = {"parameters differ on rank 1"};
    const std::string text = page({run});
    EXPECT_THAT(text, HasSubstr("1 of 1 runs are invalid"));
    EXPECT_THAT(text, HasSubstr("INVALID: parameters differ on rank 1"));
    EXPECT_THAT(text, Not(HasSubstr("<data ")));
}

TEST_F(HtmlPage, SixRunsOfAGroupAreAnIntervalOverRuns) {
    std::vector<StoredRun> runs;
    for (int i = 0; i < 6; ++i)
        runs.push_back(weak_run("20261121T101500Z-00000" + std::to_string(i), 1, 0.010 + 0.001 * i));
    const std::string text = page(runs);
    EXPECT_THAT(text, HasSubstr("median over 6 valid runs of the median of throughput_samples_per_s"));
    EXPECT_THAT(text, HasSubstr("<strong>6</strong> runs in <strong>1</strong> group"));
}

TEST_F(HtmlPage, ShowsTheChosenRunsAlone) {
    Choice choice;
    choice.conditions = {"ranks=2"};
    const std::string text =
        page({weak_run("20261121T101500Z-000001", 1, 0.010), weak_run("20261121T101500Z-000002", 2, 0.0125)},
             choice);
    EXPECT_THAT(text, Not(HasSubstr("20261121T101500Z-000001")));
    EXPECT_THAT(text, HasSubstr("Chosen: ranks=2."));
}

TEST_F(HtmlPage, SaysWhereGnuplotIsMissingAndStillHasTheNumbers) {
    const std::string path = std::getenv("PATH");
    setenv("PATH", folder_.path().c_str(), 1);
    const std::string text =
        page({weak_run("20261121T101500Z-000001", 1, 0.010), weak_run("20261121T101500Z-000002", 2, 0.0125)});
    setenv("PATH", path.c_str(), 1);
    EXPECT_THAT(text, HasSubstr("Not drawn: gnuplot is not here"));
    EXPECT_THAT(text, Not(HasSubstr("<svg")));
    EXPECT_THAT(text, HasSubstr("<details open><summary>Numbers of this figure"));
    EXPECT_THAT(text, HasSubstr("data-derived=\"T(1) / T(2)"));
}

TEST_F(HtmlPage, OfNoRunSaysSo) {
    Choice choice;
    choice.label = "no such label";
    EXPECT_THAT(page({sample_run()}, choice), HasSubstr("No run of this file was asked for"));
}

}  // namespace
}  // namespace ranklab::report
