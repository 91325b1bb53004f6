#include "report/page/html.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

#include "base/error.hpp"
#include "report/figures/drawer.hpp"
#include "report/figures/figure.hpp"
#include "report/figures/gnuplot.hpp"
#include "report/model/notices.hpp"
#include "report/model/series.hpp"
#include "report/page/render.hpp"
#include "report/page/templates.hpp"
#include "results/rows.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::report::page {
namespace {

using results::ResultFile;
using results::sample_run;
using results::StoredRun;
using testing::ElementsAre;
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
    EXPECT_EQ(escape("\xed\xa0\x80"),
              "\uFFFD\uFFFD\uFFFD");                    // half of a surrogate pair: no byte of it is good
    EXPECT_EQ(escape("ab\xe2\x82"), "ab\uFFFD\uFFFD");  // cut off
}

TEST(Cut, LongTextsBetweenLetters) {
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
    EXPECT_THAT(text, HasSubstr("data-run=\"20261121T101500Z-3f9a1c\" data-name=\"throughput_samples_per_s\" "
                                "data-field=\"median\""));
    EXPECT_THAT(text, HasSubstr(">3200</data>"));
    EXPECT_THAT(shown({figures::number_of(run, run.measurements[1], "p99")}),
                HasSubstr("n/a"));  // NaN has no place to look up
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
    return std::count(before.begin(), before.end(), '{') == std::count(before.begin(), before.end(), '}') &&
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
    const std::regex colour("(?:stroke|fill|color)=['\"](rgb[^'\"]*|black|gray)['\"]"),
        symbol("href='#(\\w+)'");
    std::size_t seen = 0;
    const std::string& text = svg->drawing;
    for (std::sregex_iterator one(text.begin(), text.end(), colour), end; one != end; ++one, ++seen)
        if ((*one)[1] != "rgb(190, 190, 190)") {  // the grid's, by its class
            EXPECT_THAT(style, HasSubstr("\"" + (*one)[1].str() + "\"]"));
        }
    for (std::sregex_iterator one(text.begin(), text.end(), symbol), end; one != end; ++one, ++seen)
        EXPECT_THAT(symbols, HasSubstr("id=\"" + (*one)[1].str() + "\""));
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
    EXPECT_THAT(svg->drawing, HasSubstr("<title>&lt;b&gt;; ranks: 1; rate: 7</title>"));
    EXPECT_THAT(svg->drawing, HasSubstr("<title>&lt;b&gt;; ranks: 4; rate: 28 [27 .. 29]</title>"));
    EXPECT_THAT(of_bars->drawing, HasSubstr("<title>io; b; time [s]: 3 [1 .. 4]</title>"));
    for (const auto& drawing : {svg->drawing, of_bars->drawing}) {
        EXPECT_THAT(drawing, Not(HasSubstr("using"))) << "gnuplot's own title";
        EXPECT_THAT(drawing, Not(HasSubstr("<b>")));
    }
    for (auto& point : bars.series[0].points) point.y *= point.x > 0 ? 1000 : 1;
    bars.log_x = true;
    const auto dots = drawer.draw(bars);
    ASSERT_TRUE(dots.has_value());
    EXPECT_THAT(dots->drawing, HasSubstr("<title>io; b; time [s]: 3000 [1 .. 4]</title>"));
    EXPECT_THAT(dots->drawing, Not(HasSubstr("<polygon"))) << "no bars on a logarithmic axis";
    EXPECT_THAT(of_bars->drawing, HasSubstr("<polygon"));
}

std::vector<std::string> texts_of(const model::Notices& notices) {
    std::vector<std::string> texts;
    for (const auto& one : notices.sorted())
        texts.push_back(one.text + " | " + std::to_string(one.runs) + " | " + one.newest);
    return texts;
}

TEST(Notices, ThatDifferInNumbersAloneAreOneWithTheirRange) {
    model::Notices notices;
    notices.add("only once", "a");
    notices.add("correlated (lag-1 0.60): 40 of them say as much as 15", "a");
    notices.add("correlated (lag-1 0.74): 40 of them say as much as 8", "b");
    notices.add("correlated (lag-1 0.33): 40 of them say as much as 32", "c");
    EXPECT_THAT(texts_of(notices),
                ElementsAre("correlated (lag-1 0.33 .. 0.74): 40 of them say as much as 8 .. 32 | 3 | c",
                            "only once | 1 | a"));
}

TEST(Notices, OfNamesAndRunsShowTheNewestAndCountARunOnce) {
    model::Notices notices;
    notices.add("node07: slower than run 20261122T011527Z-304120", "a");
    notices.add("node09: slower than run 20261122T011707Z-856ff8", "b");
    notices.add("node08: slower than run 20261122T011536Z-64d404", "b");
    EXPECT_THAT(texts_of(notices),
                ElementsAre("node08: slower than run 20261122T011536Z-64d404 (names and ids "
                            "are the last one's) | 2 | b"));
}

TEST(Notices, WithRangesOfTheirOwnSpanThemAll) {
    model::Notices notices;
    notices.add("mpi4: 95 % interval 0.02 .. 0.58 s, value 0.04 s, needed 0.75 .. 1.25", "a");
    notices.add("mpi4: 95 % interval 0.01 .. 0.03 s, value 0.015 s, needed 0.75 .. 1.25", "b");
    EXPECT_THAT(texts_of(notices),
                ElementsAre("mpi4: 95 % interval 0.01 .. 0.58 s, value 0.015 .. 0.04 s, needed 0.75 .. 1.25 "
                            "(each range spans all of them) | 2 | b"));
}

TEST(Notices, OfEqualNumbersAreWordForWord) {
    model::Notices notices;
    for (const char* const run : {"a", "b"}) notices.add("node07: 0.02 .. 0.58 s of 8", run);
    EXPECT_THAT(texts_of(notices), ElementsAre("node07: 0.02 .. 0.58 s of 8 | 2 | b"));
}

TEST(Notices, WithOtherWordsAreOthersAndTheirNumberIsBounded) {
    model::Notices notices;
    for (char c = 'a'; c <= 'z'; ++c)
        for (const char* const end : {"x", "y"}) notices.add(std::string(1, c) + end, "run");
    EXPECT_EQ(notices.sorted().size(), model::Notices::kMost);
    EXPECT_TRUE(notices.full());
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
    EXPECT_THAT(labels(figures::second_tics(0.04, 3)),
                ElementsAre("50 ms", "100 ms", "200 ms", "500 ms", "1 s", "2 s"));
    EXPECT_THAT(labels(figures::decimal_tics(8, 2e5)), ElementsAre("10", "100", "1000", "10000", "100000"));
    for (const double high : {2.0, 1e3, 1e9, 1e15}) EXPECT_LE(figures::byte_tics(1, high).size(), 6U) << high;
    EXPECT_TRUE(figures::byte_tics(0, 1).empty());
}

class HtmlPage : public testing::Test {
  protected:
    std::string page(const std::vector<StoredRun>& runs, model::Choice choice = {}) {
        for (const auto& run : runs) ResultFile(folder_ / "r.h5").append(run);
        return html_page(model::ChosenRuns(ResultFile(folder_ / "r.h5"), std::move(choice)));
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
                  {"threads", "1", true},
                  {"global-batch-size", std::to_string(32 * ranks), true}};
    run.hosts.resize(static_cast<std::size_t>(ranks), run.hosts.front());
    for (auto& row : run.hosts) row.cores = row.cpus;
    run.measurements = {results::step_time(20, static_cast<std::size_t>(ranks)),
                        results::throughput(32 * ranks / step_s, 30 * ranks / step_s, 33 * ranks / step_s)};
    // Steps that do not hang together: each of 20 levels once, out of order.
    auto& samples = run.measurements[0].samples;
    for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i] = step_s + 1e-7 * static_cast<double>(i / static_cast<std::size_t>(ranks) * 7 % 20);
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
    EXPECT_THAT(text, HasSubstr("data-derived=\"2 x T(1) / T(2) / (2 cores / 1), T = median step_time_s of "
                                "run 20261121T101500Z-000001 "
                                "and run 20261121T101500Z-000002; interval by bootstrap over steps\""));
    EXPECT_THAT(text, HasSubstr(">0.8</data>"));  // 0.010 / 0.0125; the samples' spread is 1e-6 of it
}

TEST_F(HtmlPage, MarksOversubscribedPointsAndLeavesOutEfficiencyThatNobodyKnows) {
    StoredRun crowded = weak_run("20261121T101500Z-000002", 2, 0.0125);
    for (auto& row : crowded.hosts) row.cores = "0";
    const std::string text = page({weak_run("20261121T101500Z-000001", 1, 0.010), crowded});
    EXPECT_THAT(text, HasSubstr("oversubscribed: 2 compute threads on 1 core"));
    EXPECT_THAT(text, HasSubstr("Oversubscribed where a ring is: 2 compute threads on 1 core."));
    EXPECT_THAT(text, HasSubstr("/ (1 core / 1)"));
    StoredRun unknown = weak_run("20261121T101500Z-000004", 2, 0.0125);
    for (auto& row : unknown.hosts) row.cpus = row.cores = "";
    EXPECT_THAT(page({weak_run("20261121T101500Z-000003", 1, 0.010), unknown}),
                HasSubstr("n/a: the CPUs of its ranks are not stored"));
}

// As ranklab-train stores them: what it chose by the number of ranks differs between one rank and several.
StoredRun with_settings(StoredRun run, const std::vector<std::pair<std::string, std::string>>& settings) {
    for (const auto& [key, value] : settings) {
        std::erase_if(run.config, [&](const auto& setting) { return setting.key == key; });
        run.config.push_back({key, value, false});
    }
    return run;
}

model::GroupedRuns groups_of(const std::vector<StoredRun>& runs) {
    model::GroupedRuns grouped;
    for (const StoredRun& run : runs) grouped.add(results::Run(run));
    return grouped;
}

std::vector<std::string> point_texts(const model::Series& curve) {
    std::vector<std::string> texts;
    for (const auto& [width, group] : curve.points)
        texts.push_back(fmt::format("{} at {}", group->newest.setting("mode"), width));
    return texts;
}

TEST(Curves, BeginWithTheSingleDeviceRunWhateverItStoresOfTheWayBetweenRanks) {
    const auto grouped =
        groups_of({with_settings(weak_run("a", 1, 0.010), {{"progress", "thread"}, {"backend", "self"}}),
                   with_settings(weak_run("b", 2, 0.012), {{"progress", "none"}, {"backend", "mpi"}}),
                   with_settings(weak_run("c", 4, 0.020), {{"progress", "thread"}, {"backend", "mpi"}})});
    const auto curves = model::training_series(grouped, stats::Scaling::weak);
    ASSERT_EQ(curves.size(), 1U);
    EXPECT_THAT(point_texts(curves[0]), ElementsAre("single at 1", "ddp at 2", "ddp at 4"));
    EXPECT_EQ(curves[0].differing, "progress none, thread");
    EXPECT_TRUE(model::training_series(grouped, stats::Scaling::strong).empty());
}

// Neither weak nor strong: nobody knows which batch the others left.
TEST(Curves, NeedTheSettingThatTheyHold) {
    std::vector<StoredRun> runs{weak_run("a", 1, 0.010), weak_run("b", 2, 0.012)};
    for (auto& run : runs)
        std::erase_if(run.config, [](const auto& setting) { return setting.key == "global-batch-size"; });
    const auto without_global = groups_of(runs);
    EXPECT_TRUE(model::training_series(without_global, stats::Scaling::strong).empty());
    EXPECT_EQ(model::training_series(without_global, stats::Scaling::weak).size(), 1U);
    for (auto& run : runs)
        std::erase_if(run.config, [](const auto& setting) { return setting.key == "batch-size"; });
    const auto without_both = groups_of(runs);
    EXPECT_TRUE(model::training_series(without_both, stats::Scaling::weak).empty());
}

TEST_F(HtmlPage, OfOneStepNothingIsSaidThatOneCannotTell) {
    StoredRun run = weak_run("20261121T101500Z-000001", 1, 0.010);
    run.measurements[0].samples.resize(1);
    run.measurements[0].summary = stats::summarise(run.measurements[0].samples);
    const std::string text = page({run});
    EXPECT_THAT(text, HasSubstr("They are too few (below 20) to tell by MSER-5"));
    EXPECT_THAT(text, Not(HasSubstr("show no further beginning")));
}

TEST(Curves, OfOneRankWithTheCodeForSeveralHaveItAsASecondPoint) {
    const auto grouped =
        groups_of({with_settings(weak_run("a", 1, 0.011), {{"mode", "ddp"}, {"sync", "bucketed"}}),
                   weak_run("b", 2, 0.012), weak_run("c", 1, 0.010)});
    const auto curves = model::training_series(grouped, stats::Scaling::weak);
    ASSERT_EQ(curves.size(), 1U);
    EXPECT_THAT(point_texts(curves[0]), ElementsAre("single at 1", "ddp at 1", "ddp at 2"));
}

TEST(Curves, KeepApartWhatSomebodyVariedAtOneRankCountAndOtherWork) {
    const auto on = [](const char* id, int ranks, const char* progress) {
        return with_settings(weak_run(id, ranks, 0.01), {{"progress", progress}});
    };
    const auto varied =
        groups_of({on("a", 2, "none"), on("b", 2, "thread"), on("c", 4, "none"), on("d", 4, "thread")});
    EXPECT_EQ(model::training_series(varied, stats::Scaling::weak).size(), 2U);
    const auto other =
        groups_of({with_settings(weak_run("a", 1, 0.010), {{"model", "resnet50"}}), weak_run("b", 2, 0.012)});
    EXPECT_TRUE(model::training_series(other, stats::Scaling::weak).empty());
}

StoredRun with_cpu(StoredRun run, const std::string& cpu) {
    std::erase_if(run.context, [](const auto& one) { return one.section == "host" && one.key == "cpu"; });
    run.context.push_back({"host", "cpu", cpu});
    return run;
}

StoredRun on_host(StoredRun run, const std::string& host) {
    for (auto& row : run.hosts) row.host = host;
    return run;
}

// Of two machines two groups, and two curves: no point of one is over the other's base.
TEST(Curves, AndGroupsKeepMachinesApart) {
    const std::vector<StoredRun> runs{
        with_cpu(weak_run("a", 1, 0.010), "Old"), with_cpu(weak_run("b", 2, 0.012), "Old"),
        with_cpu(weak_run("c", 1, 0.020), "New"), with_cpu(weak_run("d", 2, 0.024), "New")};
    const auto grouped = groups_of(runs);
    EXPECT_EQ(grouped.groups().size(), 4U);
    const auto curves = model::training_series(grouped, stats::Scaling::weak);
    ASSERT_EQ(curves.size(), 2U);
    for (const auto& curve : curves) {
        ASSERT_EQ(curve.points.size(), 2U);
        const auto cpu_at = [&](std::size_t i) { return curve.points[i].group->conditions.at("host.cpu"); };
        EXPECT_EQ(cpu_at(0), cpu_at(1));
        EXPECT_THAT(curve.title, HasSubstr(cpu_at(0)));
    }
    EXPECT_THAT(model::kept_apart(grouped), ElementsAre("host.cpu: New | Old"));
}

// One core and two, with no --threads: what `compare` refuses is not pooled here, and the curve goes on.
TEST(Curves, AndGroupsKeepNumbersOfThreadsApart) {
    const auto computed_by = [](StoredRun run, const char* threads) {
        std::erase_if(run.context, [](const auto& one) { return one.key == "intra_op_threads"; });
        run.context.push_back({"training", "intra_op_threads", threads});
        return run;
    };
    const auto grouped =
        groups_of({computed_by(weak_run("a", 1, 0.010), "2"), computed_by(weak_run("b", 1, 0.020), "1"),
                   computed_by(weak_run("c", 2, 0.022), "1")});
    EXPECT_EQ(grouped.groups().size(), 3U);
    EXPECT_THAT(model::kept_apart(grouped), ElementsAre("training.intra_op_threads: 1 | 2"));
    EXPECT_EQ(model::training_series(grouped, stats::Scaling::weak).size(), 1U)
        << "more ranks have fewer cores each";
}

TEST(Curves, OfOneNodeKeepHostsApartAndOfSeveralSayThem) {
    const auto two =
        groups_of({on_host(weak_run("a", 1, 0.010), "n1"), on_host(weak_run("b", 2, 0.012), "n2")});
    EXPECT_TRUE(model::training_series(two, stats::Scaling::weak).empty())
        << "another host is another machine";
    StoredRun wide = weak_run("b", 2, 0.012);
    wide.hosts[0].host = "n2";
    wide.hosts[1].host = "n3";
    const auto several = groups_of({on_host(weak_run("a", 1, 0.010), "n1"), wide});
    const auto curves = model::training_series(several, stats::Scaling::weak);
    ASSERT_EQ(curves.size(), 1U);
    EXPECT_THAT(curves[0].differing, HasSubstr("hosts n1 | n2 n3"));
}

TEST_F(HtmlPage, PoolsNoRunsOfTwoMachinesAndSaysSo) {
    std::vector<StoredRun> runs;
    for (int i = 0; i < 6; ++i)
        runs.push_back(with_cpu(weak_run("20261121T101500Z-00000" + std::to_string(i), 1, 0.010 + 0.001 * i),
                                i < 3 ? "Old" : "New"));
    const std::string text = page(runs);
    EXPECT_THAT(text, HasSubstr("<strong>6</strong> runs in <strong>2</strong> groups"));
    EXPECT_THAT(text, HasSubstr("are not pooled"));
    EXPECT_THAT(text, HasSubstr("host.cpu: New | Old"));
    EXPECT_THAT(text, Not(HasSubstr("median over 6 valid runs")));
}

std::vector<std::string> titles(const std::vector<StoredRun>& runs) {
    const model::GroupedRuns grouped = groups_of(runs);
    std::vector<const model::Group*> groups;
    for (const auto& group : grouped.groups()) groups.push_back(&group);
    return model::group_titles(groups);
}

TEST(GroupTitles, LeaveOutWhatFollowsFromTheRanksUnlessItTellsGroupsApart) {
    const auto with = [](const char* id, int ranks, const char* progress, const char* batch) {
        return with_settings(weak_run(id, ranks, 0.01), {{"progress", progress}, {"batch-size", batch}});
    };
    EXPECT_THAT(
        titles({with("a", 1, "thread", "32"), with("b", 2, "none", "32"), with("c", 2, "none", "16")}),
        ElementsAre("mnist-cnn, single, batch 32", "mnist-cnn, ddp bucketed, 32/rank",
                    "mnist-cnn, ddp bucketed, 16/rank"));
    EXPECT_THAT(titles({with("a", 2, "thread", "32"), with("b", 2, "none", "32")}),
                ElementsAre("mnist-cnn, progress thread", "mnist-cnn, progress none"));
}

TEST(GroupTitles, AreLabelsWhereTheseDifferAndNoMoreThanTellsApart) {
    const auto with = [](const char* id, const char* label, const char* lr, const char* momentum) {
        auto run = with_settings(weak_run(id, 2, 0.01), {{"lr", lr}, {"momentum", momentum}});
        run.label = label;
        return run;
    };
    EXPECT_THAT(
        titles({with("a", "base", "1", "0"), with("b", "tuned", "2", "0.9"), with("c", "tuned", "3", "0.9")}),
        ElementsAre("base", "tuned, lr 2", "tuned, lr 3"));
    EXPECT_THAT(titles({with("a", "one", "1", "0"), with("b", "one", "2", "0.9")}),
                ElementsAre("mnist-cnn, lr 1", "mnist-cnn, lr 2"))
        << "a label of all tells none apart; of two settings that go together one is enough";
    EXPECT_THAT(
        titles({with("a", "one", "1", "0"), with("b", "other", "1", "0"), with("c", "third", "2", "0")}),
        ElementsAre("mnist-cnn", "third"))
        << "the first group has runs of two labels";
}

TEST_F(HtmlPage, MarksTheSingleDeviceBaseOfACurve) {
    const std::string text =
        page({with_settings(weak_run("20261121T101500Z-000001", 1, 0.010), {{"progress", "thread"}}),
              with_settings(weak_run("20261121T101500Z-000002", 2, 0.0125), {{"progress", "none"}})});
    EXPECT_THAT(text, HasSubstr("base: single-device code</li>"));
    EXPECT_THAT(text, HasSubstr("at 1 rank, single-device code."));
    EXPECT_THAT(text, Not(HasSubstr("progress none,")));
}

// 1, 4, 16, ... 1024: none of the labels lies on another.
TEST_F(HtmlPage, OfManyRankCountsHasFewTics) {
    std::vector<StoredRun> runs;
    for (int ranks = 1, i = 10; ranks <= 1024; ranks *= 2, ++i)
        runs.push_back(weak_run("20261121T101500Z-0000" + std::to_string(i), ranks, 0.010 + 0.0001 * i));
    const std::string text = page(runs);
    const std::size_t begin = text.find("id=\"fig-weak_throughput\"");
    const std::string figure = text.substr(begin, text.find("</svg>", begin) - begin);
    if (figure.find("<svg") == std::string::npos) GTEST_SKIP() << "gnuplot is not here";
    for (const char* const there : {">1<", ">4<", ">64<", ">1024<", ">10000<"})
        EXPECT_THAT(figure, HasSubstr(there));
    for (const char* const gone : {">2<", ">8<", ">512<", ">1e+"}) EXPECT_THAT(figure, Not(HasSubstr(gone)));
}

TEST_F(HtmlPage, HasAShortListOfWarningsAndTheRestFolded) {
    std::vector<StoredRun> runs;
    for (int i = 0; i < 9; ++i) {
        runs.push_back(weak_run("20261121T101500Z-00000" + std::to_string(i), 1, 0.010));
        runs.back().warnings = {"lag-1 0." + std::to_string(i + 1),
                                std::string(1, static_cast<char>('a' + i)) + " alone"};
    }
    const std::string text = page(runs);
    EXPECT_THAT(text, HasSubstr("<li>lag-1 0.1 .. 0.9 <span\nclass=\"unit\">9 runs, newest <a href=\"#run-"));
    EXPECT_THAT(text, HasSubstr(" more</summary><ul class=\"notices\">"));
    const std::string shown = text.substr(text.find("id=\"warnings\""),
                                          text.find(" more</summary>") - text.find("id=\"warnings\""));
    EXPECT_THAT(shown, HasSubstr("lag-1 0.1 .. 0.9"));
    EXPECT_THAT(shown, Not(HasSubstr("i alone")));
    EXPECT_THAT(text, HasSubstr("i alone"));
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
    model::Choice choice;
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
    EXPECT_THAT(text, Not(HasSubstr("<svg viewBox")));
    EXPECT_THAT(text, HasSubstr("<details open><summary>Numbers of this figure"));
    EXPECT_THAT(text, HasSubstr("data-derived=\"2 x T(1) / T(2)"));
}

TEST_F(HtmlPage, LinksOnlyToRunsThatItShows) {
    std::vector<StoredRun> runs;
    for (int i = 10; i < 90; ++i) {  // a group each
        runs.push_back(weak_run("20261121T1015" + std::to_string(i) + "Z-0000aa", 1, 0.010));
        runs.back().started_utc = "2026-11-21T10:15:" + std::to_string(i) + "Z";
        runs.back().config.push_back({"lr", std::to_string(i), true});
        runs.back().warnings = {"the place is busy"};
    }
    runs[0].warnings = {"the oldest alone"};
    const std::string text = page(runs);
    EXPECT_THAT(text, HasSubstr("href=\"#run-20261121T101589Z-0000aa\""));
    EXPECT_THAT(text, HasSubstr("id=\"run-20261121T101589Z-0000aa\""));
    EXPECT_THAT(text, Not(HasSubstr("href=\"#run-20261121T101510Z-0000aa\"")));
    EXPECT_THAT(text, HasSubstr("run 20261121T101510Z-0000aa"));
    EXPECT_THAT(text, HasSubstr("… and 20 more groups"));
}

TEST_F(HtmlPage, ShowsEachRunOfAGroupWholeAndLinksToIt) {
    std::vector<StoredRun> runs;
    for (int i = 0; i < 3; ++i)
        runs.push_back(weak_run("20261121T101500Z-00000" + std::to_string(i), 1, 0.010 + 0.001 * i));
    const std::string text = page(runs);
    EXPECT_THAT(text, HasSubstr("This group has 3 valid runs"));
    for (const char* const id : {"20261121T101500Z-000000", "20261121T101500Z-000001"}) {
        EXPECT_THAT(text, HasSubstr(fmt::format("<a href=\"#run-{}\">{}</a>", id, id)));
        EXPECT_THAT(text, HasSubstr(fmt::format("id=\"run-{}\"", id)));
        EXPECT_THAT(text, HasSubstr(fmt::format("data-run=\"{}\" data-name=\"step_time_s\"", id)));
    }
}

// Twice the time in a phase that takes none is no finding; a tenth of the step is.
TEST_F(HtmlPage, ColoursRanksByTheirShareOfTheStepAndSaysWhichCameLast) {
    StoredRun run = weak_run("20261121T101500Z-000001", 2, 0.010);
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
    const std::string text = page({run});
    const std::size_t begin = text.find("id=\"fig-ranks-");
    const std::string figure = text.substr(begin, text.find("</figure>", begin) - begin);
    EXPECT_THAT(figure, testing::ContainsRegex("--h:0[.]00\"><data value=\"[0-9.]+e-0[67]\""));
    EXPECT_THAT(figure, HasSubstr("class=\"lo\" style=\"--h:1.00\"><data value=\"0.00"));
    EXPECT_THAT(figure, HasSubstr("<th>came last</th>"));
    EXPECT_THAT(figure, HasSubstr(">75</data> %"));
    EXPECT_THAT(figure, HasSubstr("data-table=\"waiting\" data-column=\"came_last_share\" data-row=\"1\""));
}

TEST_F(HtmlPage, HasSpeedupAndEfficiencyFirstWithATableOfAll) {
    const std::string text =
        page({weak_run("20261121T101500Z-000001", 1, 0.010), weak_run("20261121T101500Z-000002", 2, 0.0125),
              weak_run("20261121T101500Z-000004", 4, 0.020)});
    const std::size_t scaling = text.find("<section id=\"scaling\">"),
                      speedup = text.find("id=\"fig-weak_speedup\""),
                      efficiency = text.find("id=\"fig-weak_efficiency\""),
                      table = text.find("<th>series</th><th>ranks</th><th>speedup</th>", efficiency),
                      rate = text.find("id=\"fig-weak_throughput\""),
                      summary = text.find("<section id=\"summary\">");
    EXPECT_LT(scaling, speedup);
    EXPECT_LT(speedup, efficiency);
    EXPECT_LT(efficiency, table);
    EXPECT_LT(table, rate);
    EXPECT_LT(rate, summary);
    const std::string rows = text.substr(table, rate - table);
    EXPECT_THAT(rows, HasSubstr(">1.6</data>"));  // 2 x 0.010 / 0.0125
    EXPECT_THAT(rows, HasSubstr("data-derived=\"4 x T(1) / T(4), T = median step_time_s of "));
    EXPECT_LT(rows.find("1 (base)"), rows.find(">1.6</data>"));
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

TEST_F(HtmlPage, BeginsWithTheBestOfEachWorkloadAndLeavesOutRanksThatShareNothing) {
    const auto faster = [](StoredRun run, double rate, const char* sync) {
        run = with_settings(std::move(run), {{"sync", sync}});
        run.measurements[1].summary.median = rate;
        return run;
    };
    const std::string text = page({weak_run("20261121T101500Z-000001", 1, 0.010),
                                   faster(weak_run("20261121T101500Z-000002", 2, 0.012), 5000, "flat"),
                                   faster(weak_run("20261121T101500Z-000003", 2, 0.012), 9000, "none")});
    const std::size_t begin = text.find("class=\"headline\""), warned = text.find("id=\"warnings\"");
    ASSERT_LT(begin, warned);
    const std::string headline = text.substr(begin, text.find("</article>", begin) - begin);
    EXPECT_THAT(headline, HasSubstr("<h2>mnist-cnn</h2>"));
    EXPECT_THAT(headline, HasSubstr(">5000</data>"));
    EXPECT_THAT(headline, HasSubstr("href=\"#run-20261121T101500Z-000002\""));
    EXPECT_THAT(headline, HasSubstr("the best of 2 measured"));
    EXPECT_THAT(headline, HasSubstr("2 ranks on node01"));
}

TEST(Numbers, OfBytesAreReadInMiBAndKeepTheirValue) {
    const std::string text = shown(figures::for_reading({figures::derived(3.0 * 1024 * 1024, "a sum")}, "B"));
    EXPECT_THAT(text, HasSubstr("data-value=\"3145728\""));
    EXPECT_THAT(text, HasSubstr(">3</data>"));
    EXPECT_EQ(figures::unit_for_reading("B"), "MiB");
    EXPECT_EQ(figures::unit_for_reading("s"), "s");
}

TEST_F(HtmlPage, OfNoRunSaysSo) {
    model::Choice choice;
    choice.label = "no such label";
    EXPECT_THAT(page({sample_run()}, choice), HasSubstr("No run of this file was asked for"));
}

}  // namespace
}  // namespace ranklab::report::page
