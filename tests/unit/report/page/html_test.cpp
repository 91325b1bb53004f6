// The page: whole in a golden file where gnuplot is missing, its pictures and what no results file may do
// here.
#include "report/page/html.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "report/figures/drawer.hpp"
#include "report/figures/figure.hpp"
#include "report/figures/gnuplot.hpp"
#include "report/page/render.hpp"
#include "report/page/templates.hpp"
#include "results/rows.hpp"
#include "unit/report/outputs.hpp"
#include "unit/report/training_runs.hpp"

namespace ranklab::report::page {
namespace {

using results::ResultFile;
using results::sample_run;
using results::StoredRun;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Escape, LeavesNoMarkupAndReplacesWhatWouldMoveOrHideText) {
    for (const auto& [text, escaped] : std::vector<std::pair<std::string, std::string>>{
             {"<a href=\"x\">'&", "&lt;a href=&quot;x&quot;&gt;&#39;&amp;"},
             {"süß", "süß"},
             {{"a\0b", 3}, "a\uFFFDb"},
             {"a\x1b[31mb", "a\uFFFD[31mb"},
             {"a\nb", "a b"},
             {"a\u202Eb", "a\uFFFDb"},  // from right to left from here on
             {"\xff\xc0\xaf", "\uFFFD\uFFFD\uFFFD"},
             {"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},  // half of a surrogate pair: no byte of it is good
             {"ab\xe2\x82", "ab\uFFFD\uFFFD"}})       // cut off
        EXPECT_EQ(escape(text), escaped);
    EXPECT_EQ(figures::cut("äöüß", 3), "äöü…");
    EXPECT_EQ(figures::cut("äöü", 3), "äöü");
}

std::string shown(const figures::Words& words) {
    return filled("words.html", cell_data(words));
}

TEST(Numbers, SayWhereTheyStandAndEveryDigit) {
    StoredRun run = sample_run();
    run.measurements[1].summary.median = 3200.0625;
    const std::string text = shown({figures::number_of(run, run.measurements[1], "median")});
    EXPECT_THAT(text, HasSubstr("data-value=\"3200.0625\""));
    EXPECT_THAT(text, HasSubstr(">3200</data>"));
    EXPECT_THAT(shown({figures::number_of(run, run.measurements[1], "p99")}), HasSubstr("n/a"));
    const auto bytes = shown(figures::for_reading({figures::derived(3.0 * 1024 * 1024, "a sum")}, "B"));
    EXPECT_THAT(bytes, HasSubstr("data-value=\"3145728\""));
    EXPECT_THAT(bytes, HasSubstr(">3</data>"));
    EXPECT_EQ(figures::unit_for_reading("B"), "MiB");
}

TEST(Words, HaveNoBlanksBetweenThemButTheirOwn) {
    EXPECT_EQ(shown({"a", figures::strong("b"), figures::soft("<c>"), figures::definition("x y"), "."}),
              "a<strong>b</strong><span class=\"unit\">&lt;c&gt;</span><a href=\"#def-x-y\">x y</a>.");
}

std::string template_named(std::string_view name) {
    for (const auto& one : templates())
        if (one.name == name) return std::string(one.text);
    return "";
}

// What a results file holds goes through escape(): one text alone is put in as it is, gnuplot's picture.
TEST(Templates, EscapeAllButThePictures) {
    std::size_t unescaped = 0;
    for (const auto& one : templates()) {
        for (std::size_t at = one.text.find("{{{"); at != std::string_view::npos;
             at = one.text.find("{{{", at + 3), ++unescaped)
            EXPECT_EQ(one.text.substr(at, 13), "{{{drawing}}}") << one.name;
        EXPECT_EQ(one.text.find("{{&"), std::string_view::npos) << one.name;
    }
    EXPECT_EQ(unescaped, 1U);
    EXPECT_GT(templates().size(), 10U);
}

std::string gnuplot_rgb(const std::string& colour) {
    const auto part = [&](std::size_t at) { return std::stoi(colour.substr(at, 2), nullptr, 16); };
    return fmt::format("rgb({:3d}, {:3d}, {:3d})", part(1), part(3), part(5));
}

// Whether the rule is one by itself, and in no @media.
bool stands_alone(const std::string& style, const std::string& rule) {
    const std::size_t at = style.find(rule);
    if (at == std::string::npos) return false;
    const std::string before = style.substr(0, at);
    const std::size_t last = before.find_last_not_of(" \n");
    return std::ranges::count(before, '{') == std::ranges::count(before, '}') &&
           (before[last] == '}' || before[last] == '/');
}

TEST(Style, HasItsOwnColourForEachOfGnuplots) {
    const std::string style = template_named("style.css");
    EXPECT_TRUE(stands_alone(style, ".plot [stroke=\"black\"]"));
    for (std::size_t i = 0; i < figures::kColours.size(); ++i) {
        for (const char* const what : {"stroke", "fill", "color"})
            EXPECT_TRUE(stands_alone(style, fmt::format(".plot [{}=\"{}\"] {{ {}: var(--s{}); }}", what,
                                                        gnuplot_rgb(figures::kColours[i]), what, i + 1)))
                << what << ' ' << figures::kColours[i];
        EXPECT_THAT(style, HasSubstr(fmt::format("--s{}: {};", i + 1, figures::kColours[i])));
    }
}

TEST(SvgForPage, HasNoNamesOfItsOwn) {
    const std::string picture =
        "<?xml version=\"1.0\"?>\n<svg \n viewBox=\"0 0 560 360\"\n xmlns=\"http://www.w3.org/2000/svg\">\n"
        "<title>Gnuplot</title>\n<g id=\"gnuplot_canvas\">\n<rect x=\"0\" y=\"0\" width=\"560\" "
        "height=\"360\" fill=\"none\"/>\n<defs><circle id='gpDot' r='0.5'/></defs>\n<g id=\"weak_plot_1\">"
        "<title>weak_plot_1</title><use xlink:href='#gpPt6' color='rgb(  0, 114, 178)'/></g>\n</g>\n</svg>\n";
    const auto says_nothing = [](std::string_view) { return std::string(); };
    const auto svg = figures::svg_for_page(picture, says_nothing);
    ASSERT_TRUE(svg.has_value());
    EXPECT_EQ(svg->view_box, "0 0 560 360");
    EXPECT_EQ(svg->drawing, "\n<g id=\"weak_plot_1\"><use href='#gpPt6' color='rgb(  0, 114, 178)'/></g>\n");
    EXPECT_FALSE(figures::svg_for_page("no picture", says_nothing).has_value());
}

// What stands between the quotes behind each `name=`.
std::vector<std::string> values_of(const std::string& text, const std::string& name) {
    std::vector<std::string> values;
    for (std::size_t at = text.find(name + '='); at != std::string::npos;
         at = text.find(name + '=', at + 1)) {
        const std::size_t begin = at + name.size() + 2;
        values.push_back(text.substr(begin, text.find(text[begin - 1], begin) - begin));
    }
    return values;
}

// Every colour and symbol of a drawn chart is one that the page has.
TEST(SvgForPage, HasOnlyColoursAndSymbolsOfThePage) {
    figures::Chart chart;
    chart.name = "all";
    for (std::size_t i = 0; i < figures::kColours.size(); ++i) {
        chart.series.push_back({"s", figures::Look::points, i, {{1, 1.0 + static_cast<double>(i), {1, 2}}}});
        chart.series.push_back({"l", figures::Look::dashed, i, {{1, 1}, {2, 3}}});
    }
    chart.series.push_back({"m", figures::Look::marks, 0, {{1, 2}}});
    figures::Drawer drawer(escape);
    const auto svg = drawer.draw(chart);
    if (!svg) GTEST_SKIP() << drawer.why_not();
    const std::string style = template_named("style.css"), symbols = template_named("symbols.html");
    std::size_t seen = 0;
    for (const char* const name : {"stroke", "fill", "color"})
        for (const auto& colour : values_of(svg->drawing, name))
            if (colour.starts_with("rgb") && colour != "rgb(190, 190, 190)") {  // the grid's, by its class
                EXPECT_THAT(style, HasSubstr('"' + colour + "\"]"));
                ++seen;
            }
    for (const auto& symbol : values_of(svg->drawing, "href"))
        EXPECT_THAT(symbols, HasSubstr("id=\"" + symbol.substr(1) + '"'));
    EXPECT_GT(seen, 20U);
}

// A number that the pointer finds, of a label that is markup.
TEST(SvgForPage, SaysAPointsNumberToThePointer) {
    figures::Chart chart{.name = "hover", .x_label = "ranks", .y_label = "rate"};
    chart.series.push_back({"<b>", figures::Look::points, 0, {{1, 7}, {2, stats::kNone}, {4, 28, {27, 29}}}});
    figures::Chart bars{.name = "bars", .x_label = "time [s]", .categories = {"a", "b"}};
    bars.series.push_back({"io", figures::Look::points, 0, {{0, 2}, {1, 3, {1, 4}}}});
    figures::Drawer drawer(escape);
    const auto svg = drawer.draw(chart), of_bars = drawer.draw(bars);
    if (!svg || !of_bars) GTEST_SKIP() << drawer.why_not();
    EXPECT_THAT(svg->drawing, HasSubstr("<title>&lt;b&gt;; ranks: 4; rate: 28 [27 .. 29]</title>"));
    EXPECT_THAT(of_bars->drawing, HasSubstr("<title>io; b; time [s]: 3 [1 .. 4]</title>"));
    for (const auto& drawing : {svg->drawing, of_bars->drawing}) {
        EXPECT_THAT(drawing, Not(HasSubstr("using"))) << "gnuplot's own title";
        EXPECT_THAT(drawing, Not(HasSubstr("<b>")));
    }
    EXPECT_THAT(of_bars->drawing, HasSubstr("<polygon"));
    bars.log_x = true;
    EXPECT_THAT(drawer.draw(bars)->drawing, Not(HasSubstr("<polygon"))) << "no bars on a logarithmic axis";
}

std::vector<std::string> labels(const std::vector<figures::Tic>& tics) {
    std::vector<std::string> texts;
    for (const auto& tic : tics) texts.push_back(tic.text);
    return texts;
}

TEST(Tics, AreFewAndShort) {
    EXPECT_THAT(labels(figures::byte_tics(60000, 5e6)), ElementsAre("64 KiB", "256 KiB", "1 MiB", "4 MiB"));
    EXPECT_THAT(labels(figures::second_tics(2e-5, 3e-3)),
                ElementsAre("20 us", "50 us", "100 us", "200 us", "500 us", "1 ms", "2 ms"));
    EXPECT_THAT(labels(figures::decimal_tics(8, 2e5)), ElementsAre("10", "100", "1000", "10000", "100000"));
    for (const double high : {2.0, 1e3, 1e9, 1e15}) EXPECT_LE(figures::byte_tics(1, high).size(), 6U) << high;
    EXPECT_TRUE(figures::byte_tics(0, 1).empty());
}

std::string id_of(int number) {
    return fmt::format("20261121T1015{:02}Z-0000aa", number);
}

class HtmlPage : public testing::Test {
  protected:
    ~HtmlPage() override { setenv("PATH", path_.c_str(), 1); }
    void hide_gnuplot() { setenv("PATH", folder_.path().c_str(), 1); }
    std::string page(const std::vector<StoredRun>& runs, model::Choice choice = {}) {
        for (const auto& run : runs) ResultFile(folder_ / "r.h5").append(run);
        return html_page(model::ChosenRuns(ResultFile(folder_ / "r.h5"), std::move(choice)));
    }

    results::TempFolder folder_;
    const std::string path_ = std::getenv("PATH");
};

// Twice the time in a phase that takes none is no finding; a tenth of the step is.
StoredRun with_phases(StoredRun run) {
    const auto phase = [&](const char* name, double first, double second) {
        results::Measurement m{name, "s", results::Kind::cost, "max", "step", 2, {}, {}, {}};
        for (int step = 0; step < 20; ++step) m.samples.insert(m.samples.end(), {first, second});
        m.summary = stats::summarise(m.samples);
        run.measurements.push_back(m);
    };
    phase("copy_time_s", 1e-6, 3e-6);
    phase("forward_time_s", 0.004, 0.006);
    results::Rows table("waiting");
    table.add({std::int64_t{0}, std::string("n1"), 0.001, 0.25, std::string("none"), 0.0});
    table.add({std::int64_t{1}, std::string("n2"), 0.0, 0.75, std::string("forward"), 0.002});
    run.tables.push_back(std::move(table).table());
    return run;
}

// Speedups of 1.6 at 2 ranks and 2 at 4 oversubscribed ones; 2 ranks that sum nothing, an invalid run.
std::vector<StoredRun> trainings() {
    StoredRun crowded = weak_run(id_of(4), 4, 0.020), apart = weak_run(id_of(5), 2, 0.009),
              failed = weak_run(id_of(6), 2, 0.001);
    for (auto& row : crowded.hosts) row.cores = "0";
    apart = with_settings(apart, {{"sync", "none"}});
    failed.valid = false;
    failed.exit_code = 3;
    failed.warnings = {"parameters differ on rank 1"};
    return {weak_run(id_of(1), 1, 0.010),
            with_phases(weak_run(id_of(2), 2, 0.0125)),
            weak_run(id_of(3), 2, 0.0126),
            crowded,
            apart,
            failed};
}

TEST_F(HtmlPage, IsAsStored) {
    hide_gnuplot();
    std::string text = page(trainings());
    for (const char* const part : {"style", "defs"}) {  // the templates style.css and symbols.html
        const std::size_t begin = text.find(fmt::format("<{}", part));
        text.erase(begin, text.find(fmt::format("</{}>", part), begin) - begin);
    }
    Outputs pages;
    pages.add("trainings, no gnuplot", text);
    pages.expect("page.html");
}

TEST_F(HtmlPage, NothingThatTheFileHoldsIsMarkupAndItNeedsNothingFromElsewhere) {
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
    for (const char* const elsewhere : {"http:", "https:", "<link", "@import", "url("})
        EXPECT_THAT(text, Not(HasSubstr(elsewhere))) << elsewhere;
    EXPECT_THAT(text, HasSubstr("&lt;img src=x"));
    EXPECT_THAT(text, Not(HasSubstr(std::string(1000, 'w'))));
}

TEST_F(HtmlPage, LeavesOutEfficiencyThatNobodyKnowsAndFindingsOfOneStep) {
    hide_gnuplot();
    StoredRun unknown = weak_run(id_of(2), 2, 0.0125), single = weak_run(id_of(1), 1, 0.010);
    for (auto& row : unknown.hosts) row.cpus = row.cores = "";
    single.measurements[0].samples.resize(1);
    single.measurements[0].summary = stats::summarise(single.measurements[0].samples);
    const std::string text = page({single, unknown});
    EXPECT_THAT(text, HasSubstr("n/a: the CPUs of its ranks are not stored"));
    EXPECT_THAT(text, HasSubstr("too few (below 20) to tell by MSER-5"));
}

TEST_F(HtmlPage, PoolsNoRunsOfTwoMachines) {
    hide_gnuplot();
    std::vector<StoredRun> runs;
    for (int i = 0; i < 9; ++i)
        runs.push_back(with_cpu(weak_run(id_of(i), 1, 0.010 + 0.001 * i), i < 3 ? "Old" : "New"));
    const std::string text = page(runs);
    EXPECT_THAT(text, HasSubstr("<strong>9</strong> runs in <strong>2</strong> groups"));
    EXPECT_THAT(text, HasSubstr("host.cpu: New | Old"));
    EXPECT_THAT(text, HasSubstr("median over 6 valid runs")) << "an interval over runs";
}

// 1, 4, 16, ... 256: none of the labels lies on another.
TEST_F(HtmlPage, OfManyRankCountsHasFewTics) {
    std::vector<StoredRun> runs;
    for (int ranks = 1, i = 10; ranks <= 256; ranks *= 2, ++i)
        runs.push_back(weak_run(id_of(i), ranks, 0.010 + 0.0001 * i));
    const std::string text = page(runs);
    const std::size_t begin = text.find("id=\"fig-weak_throughput\"");
    const std::string figure = text.substr(begin, text.find("</svg>", begin) - begin);
    if (figure.find("<svg") == std::string::npos) GTEST_SKIP() << "gnuplot is not here";
    const auto has = [&](const char* tic) {
        return figure.find(fmt::format("<text>{}<", tic)) != std::string::npos;
    };
    for (const char* const there : {"1", "4", "64", "256"}) EXPECT_TRUE(has(there)) << there;
    for (const char* const gone : {"2", "8", "128", "1e+05"}) EXPECT_FALSE(has(gone)) << gone;
}

TEST_F(HtmlPage, HasAShortListOfWarningsAndTheRestFolded) {
    hide_gnuplot();
    std::vector<StoredRun> runs;
    for (int i = 0; i < 9; ++i) {
        runs.push_back(weak_run(id_of(i), 1, 0.010));
        runs.back().warnings = {fmt::format("lag-1 0.{}", i + 1), fmt::format("{} alone", "abcdefghi"[i])};
    }
    const std::string text = page(runs);
    const std::size_t begin = text.find("id=\"warnings\""), folded = text.find(" more</summary>", begin);
    EXPECT_LT(text.find("lag-1 0.1 .. 0.9", begin), folded);
    EXPECT_GT(text.find("i alone", begin), folded);
    EXPECT_LT(text.find("i alone", begin), text.size());
}

TEST_F(HtmlPage, ShowsTheChosenRunsAlone) {
    hide_gnuplot();
    model::Choice two_ranks, none;
    two_ranks.conditions = {"ranks=2"};
    none.label = "no such label";
    const std::string text = page({weak_run(id_of(1), 1, 0.010), weak_run(id_of(2), 2, 0.0125)}, two_ranks);
    EXPECT_THAT(text, Not(HasSubstr(id_of(1))));
    EXPECT_THAT(text, HasSubstr("ranks=2"));
    EXPECT_THAT(page({}, none), Not(HasSubstr(id_of(2))));
}

TEST_F(HtmlPage, LinksOnlyToRunsThatItShows) {
    hide_gnuplot();
    std::vector<StoredRun> runs;
    for (int i = 1; i <= 70; ++i) {  // a group each
        runs.push_back(weak_run(id_of(i), 1, 0.010));
        runs.back().started_utc = fmt::format("2026-11-21T10:{:02}:{:02}Z", i / 60, i % 60);
        runs.back().config.push_back({"lr", std::to_string(i), true});
        runs.back().warnings = {i == 1 ? "the oldest alone" : "the place is busy"};
    }
    const std::string text = page(runs);
    EXPECT_THAT(text, HasSubstr(fmt::format("href=\"#run-{}\"", id_of(70))));
    EXPECT_THAT(text, HasSubstr(fmt::format("id=\"run-{}\"", id_of(70))));
    EXPECT_THAT(text, Not(HasSubstr(fmt::format("href=\"#run-{}\"", id_of(1)))));
    EXPECT_THAT(text, HasSubstr("run " + id_of(1)));
    EXPECT_THAT(text, HasSubstr("… and 10 more groups"));
}

TEST(JoinedTable, MarksOversubscribedPointsAndHasNoRowOfRings) {
    figures::Chart chart{.name = "c", .x_label = "ranks", .y_label = "speedup"};
    chart.series = {{"a", figures::Look::points, 0, {{2, 1.8}, {.x = 3, .y = 1.2, .crowded = true}}},
                    {"ideal", figures::Look::dashed, 0, {{1, 1}, {3, 3}}},
                    {figures::kOversubscribed, figures::Look::marks, 6, {{3, 1.2}}}};
    const auto table = figures::joined_table({{chart, {}}});
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(figures::plain_text(table.rows[0][1]), "2");
    EXPECT_EQ(figures::plain_text(table.rows[1][1]), "3 oversubscribed");
    EXPECT_EQ(figures::told_in_key(chart).size(), 3U);
    chart.series.push_back(chart.series[1]);
    EXPECT_EQ(figures::told_in_key(chart).size(), 3U);
}

}  // namespace
}  // namespace ranklab::report::page
