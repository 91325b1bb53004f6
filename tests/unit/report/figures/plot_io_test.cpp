#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "report/figures/figure.hpp"
#include "report/figures/table_files.hpp"
#include "temp_folder.hpp"
#include "unit/report/io_runs_sample.hpp"

namespace ranklab::report::figures {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

class IoFigures : public testing::Test {
  protected:
    using Builder = std::vector<Figure> (*)(const Source&);

    /// Data and scripts of what `make` makes of the runs, for paper; returns how many figures there are.
    std::size_t prepare(Builder make, const std::vector<results::Run>& runs) {
        model::GroupedRuns grouped;
        for (auto run : runs) grouped.add(std::move(run));
        const auto load = [&](const std::string& id) {
            auto run = *std::find_if(runs.begin(), runs.end(), [&](const auto& one) { return one.id == id; });
            if (run.measurements.empty()) return run;  // it holds a ladder
            auto& time = run.measurements.front();
            for (int i = -3; i <= 3; ++i) time.samples.push_back(time.summary.median * (1 + 0.02 * i));
            return run;
        };
        const auto figures = make({grouped, load, {}});
        for (const auto& one : figures) prepare_chart(one.chart, one.caption, folder_.path(), Medium::paper);
        return figures.size();
    }
    std::string text(const std::string& name) { return text_of(folder_ / name); }

    tests::TempFolder folder_;
};

TEST_F(IoFigures, LaddersAreBarsInTheirOrderWithIntervalsAndSpeedups) {
    ASSERT_EQ(prepare(ladder_figures, {sample_ladder()}), 2U);
    EXPECT_THAT(text("ladder.dat"), HasSubstr("\n-0 NaN 4.8 4.8 4.7 5\n-1 NaN 1.4 1.4 "));
    EXPECT_THAT(text("ladder.dat"), HasSubstr("\n-3 0.3 \"   0.3\" \"process-pool, 2 ranks\"\n"));
    EXPECT_THAT(text("ladder_speedup.dat"), HasSubstr("\n-3 16 \"   16\" \"process-pool, 2 ranks\"\n"));
    const auto script = text("plot_ladder.gp");
    EXPECT_THAT(script, HasSubstr("'job time [s], logarithmic'"));  // 40 x
    EXPECT_THAT(script, HasSubstr("with vectors heads"));
    EXPECT_THAT(script, HasSubstr("it''s the layout"));
    EXPECT_THAT(text("plot_ladder_speedup.gp"), HasSubstr("the base is text-loop with 4.8 [4.7 .. 5] s"));
}

// A later one in another place hides none; one at the same place is the newer state of it.
TEST_F(IoFigures, LaddersOfOtherLabelsAndDirectoriesStandBesideTheNewest) {
    std::vector<results::Run> runs;
    const auto add = [&](const std::string& label, const std::string& directory) {
        auto run = sample_ladder();
        run.id = fmt::format("run{}", runs.size());
        run.started_utc = fmt::format("2026-11-21T10:15:0{}Z", runs.size());
        run.label = label;
        run.config.push_back({"directory", directory});
        runs.push_back(std::move(run));
    };
    add("", "/scratch");
    add("", "/home");
    add("nightly", "/home");
    add("", "/scratch");
    const auto build = [&](std::size_t most) {
        model::GroupedRuns grouped;
        for (auto run : runs) grouped.add(std::move(run));
        const auto load = [&](const std::string& id) {
            return runs.at(static_cast<std::size_t>(id.back() - '0'));
        };
        EXPECT_EQ(grouped.ladders().size(), 3U);
        return figures_of_ladders({grouped, load, {}}, most);
    };
    const auto all = build(4);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_THAT(all[0].title, testing::EndsWith(", directory /scratch"));
    EXPECT_EQ(all[1].title, "nightly, directory /home");
    EXPECT_THAT(all[2].title, testing::EndsWith(", directory /home"));
    std::set<std::string> names;
    for (const auto& one : all)
        for (const auto& figure : one.figures) EXPECT_TRUE(names.insert(figure.chart.name).second);
    EXPECT_THAT(names, testing::Contains("ladder"));
    EXPECT_EQ(build(2).size(), 2U);
    EXPECT_EQ(build(1).at(0).title, "") << "alone it needs no name";
}

results::Run ladder_of(const std::string& id, const std::string& strategies,
                       const std::vector<results::Setting>& settings = {}) {
    auto run = sample_ladder();
    run.id = id;
    run.started_utc = "2026-11-21T10:15:0" + id + "Z";
    run.config[0].value = strategies;
    run.config.insert(run.config.end(), settings.begin(), settings.end());
    return run;
}

std::vector<TitledFigures> ladders_among(const std::vector<results::Run>& runs) {
    model::GroupedRuns grouped;
    for (auto run : runs) grouped.add(std::move(run));
    const auto load = [&](const std::string& id) { return *std::ranges::find(runs, id, &results::Run::id); };
    return figures_of_ladders({grouped, load, {}}, 4);
}

std::vector<std::string> titles_among(const std::vector<results::Run>& runs) {
    std::vector<std::string> titles;
    for (const auto& one : ladders_among(runs)) titles.push_back(one.title);
    return titles;
}

// They take no place of those that compare strategies.
TEST_F(IoFigures, SweepsOfOneStrategyAreNoLadders) {
    const std::vector<results::Run> runs{ladder_of("0", "all"), ladder_of("1", "text-loop,binary"),
                                         ladder_of("2", "mpi-send"),
                                         ladder_of("3", "process-pool", {{"sweep-workers", "1,2"}})};
    EXPECT_THAT(titles_among(runs), testing::ElementsAre("text-loop,binary", "all"));
}

// One that was cut short hides no whole one, though it is newer, and says what it is.
TEST_F(IoFigures, LaddersThatWereCutShortStandBehindTheWholeOnes) {
    auto cut = ladder_of("1", "all");
    cut.exit_code = 130;
    const auto whole = ladder_of("0", "all");
    EXPECT_THAT(titles_among({whole, cut}), testing::ElementsAre("all", "all, cut short: SIGINT"));
    const auto captions = [](const std::vector<results::Run>& runs) {
        std::string text;
        const auto all = ladders_among(runs);
        for (const auto& figure : all.front().figures)
            for (const auto& word : figure.caption) text += word.text;
        return text;
    };
    EXPECT_THAT(captions({cut}), HasSubstr("Cut short (SIGINT): "));
    EXPECT_THAT(captions({whole, cut}), Not(HasSubstr("Cut short")));
}

// Not only what is enough to tell them apart.
TEST_F(IoFigures, TitlesOfLaddersNameEverySettingThatDiffers) {
    const auto of = [](const std::string& id, const std::string& fsync, const std::string& write_only) {
        return ladder_of(id, "all", {{"fsync", fsync}, {"write-only", write_only}});
    };
    EXPECT_THAT(
        titles_among({of("0", "false", "true"), of("1", "true", "false")}),
        testing::ElementsAre("all, fsync true, write-only false", "all, fsync false, write-only true"));
}

TEST_F(IoFigures, LaddersAreLinearWhereRungsAreNearAndNameAnotherBase) {
    prepare(ladder_figures, {ladder_run({{"binary", {2, {}, 3}}, {"mpi-send", {1, {}, 3}}}, {"", ""})});
    EXPECT_THAT(text("plot_ladder.gp"), Not(HasSubstr("logarithmic")));
    EXPECT_THAT(text("plot_ladder.gp"), Not(HasSubstr("with vectors heads")));
    EXPECT_THAT(text("plot_ladder_speedup.gp"),
                HasSubstr("'Speedup over binary (file system unknown, fsync unknown)'"));
    EXPECT_THAT(text("plot_ladder_speedup.gp"), HasSubstr("the base is binary with 2 s"));
}

TEST_F(IoFigures, ScalingHasPointsIntervalsAndTheLinearLine) {
    ASSERT_EQ(prepare(io_scaling_figures,
                      {rung_run("mpi-send", 1, 1, {8, {6, 10}}), rung_run("mpi-send", 2, 1, {4, {3, 5}})}),
              2U);
    EXPECT_THAT(text("io_efficiency.dat"), ContainsRegex("\n1 1 NaN NaN\n2 1 0[.][0-9]+ 1[.][0-9]+\n"));
    EXPECT_THAT(text("io_scaling.dat"), ContainsRegex("\n1 1 NaN NaN\n2 2 1[.][0-9]+ 2[.][0-9]+\n"));
    const auto script = text("plot_io_scaling.gp");
    EXPECT_THAT(script, HasSubstr("with lines dashtype"));
    EXPECT_THAT(script, HasSubstr("'mpi-send over ranks, 100 × 300²'"));
    EXPECT_THAT(script, HasSubstr("8 [6 .. 10] s"));
    EXPECT_THAT(script, HasSubstr("with vectors heads"));
    EXPECT_THAT(script, Not(HasSubstr("linespoints")));
}

TEST_F(IoFigures, OfOtherRunsThereAreNone) {
    EXPECT_EQ(prepare(ladder_figures, {results::Run{}}), 0U);
    EXPECT_EQ(prepare(io_scaling_figures, {rung_run("mpi-send", 2, 1, {4, {}})}), 0U);
}

// A logarithmic axis has no zero that a bar could begin at.
TEST_F(IoFigures, LaddersOfLogarithmicAxesHaveDotsAndNoBars) {
    prepare(ladder_figures, {sample_ladder()});
    EXPECT_THAT(text("plot_ladder.gp"), HasSubstr("set logscale x"));
    EXPECT_THAT(text("plot_ladder.gp"), HasSubstr("with points"));
    EXPECT_THAT(text("plot_ladder.gp"), Not(HasSubstr("boxxyerror")));
    prepare(ladder_figures, {ladder_run({{"binary", {2, {}, 3}}, {"mpi-send", {1, {}, 3}}}, {"", ""})});
    EXPECT_THAT(text("plot_ladder.gp"), HasSubstr("boxxyerror"));
}

// Of seven series each has a colour, a mark or a dash of its own; the key has an entry a line below the axis.
TEST(PaperCharts, TellSeriesApartWithoutColoursToo) {
    const tests::TempFolder folder;
    Chart chart{.name = "many", .title = "Many", .x_label = "x", .y_label = "y"};
    for (std::size_t i = 0; i < 2 * kColours.size(); ++i)
        chart.series.push_back({"line", Look::line, i, {{1, 1}, {2, 2}}});
    prepare_chart(chart, {}, folder.path(), Medium::paper);
    const auto script = text_of(folder / "plot_many.gp");
    EXPECT_THAT(script, HasSubstr("set key at screen"));
    EXPECT_THAT(script, HasSubstr("maxcols 1"));
    std::set<std::string> looks;
    for (std::size_t at = script.find("with lines"); at != std::string::npos;
         at = script.find("with lines", at + 1))
        looks.insert(script.substr(at, script.find(" title", at) - at));
    EXPECT_EQ(looks.size(), 2 * kColours.size());
    for (std::size_t i = 0; i + 1 < kColours.size(); ++i) EXPECT_NE(dash_index(i), dash_index(i + 1));
}

TEST(TableFiles, AreLaTeXWithoutMarkupOfTheRunsAndCsvWithAllDigits) {
    const tests::TempFolder folder;
    const FileTable table{
        "t",
        "50 % & more",
        {"a_b", "peak_rss_bytes"},
        {{{"\\input{x}, \"q\""}, {"", 3145728, {2097152, 4194304.5}}}, {{"plain"}, {"n/a"}}}};
    ASSERT_EQ(write_table(table, folder.path()).size(), 2U);
    EXPECT_EQ(text_of(folder / "t.csv"),
              "a_b,peak_rss_bytes,\"peak_rss_bytes, 95 % low\",\"peak_rss_bytes, 95 % high\"\n"
              "\"\\input{x}, \"\"q\"\"\",3145728,2097152,4194304.5\nplain,n/a,,\n");
    const auto tex = text_of(folder / "t.tex");
    EXPECT_THAT(tex, HasSubstr("\\caption{50 \\% \\& more}"));
    EXPECT_THAT(tex, HasSubstr("a\\_b & peak\\_rss\\_bytes [MiB] \\\\"));
    EXPECT_THAT(tex, HasSubstr("\\textbackslash{}input\\{x\\}, \"q\" & 3 [2, 4] \\\\"));
    EXPECT_THAT(tex, HasSubstr("\\toprule"));
}

TEST(PlotIo, IsDrawnWhereGnuplotIs) {
    const tests::TempFolder folder;
    try {
        const auto [pictures, beside] =
            plot({sample_ladder(), rung_run("mpi-send", 1, 1, {8, {}}), rung_run("mpi-send", 2, 1, {4, {}})},
                 folder / "plots");
        EXPECT_EQ(pictures.size(), 4U);
        EXPECT_EQ(beside.size(), 22U);  // of each: data, script, .pdf, .csv, .tex; and the groups' tables
        for (const auto& file : beside) EXPECT_TRUE(std::filesystem::exists(file)) << file;
        for (const auto& [path, title] : pictures) {
            EXPECT_TRUE(std::filesystem::exists(path)) << path;
            EXPECT_EQ(path.extension(), ".svg");
            EXPECT_FALSE(title.empty()) << path;
        }
        EXPECT_THAT(text_of(folder / "plots" / "ladder.svg"), HasSubstr("</svg>"));
        EXPECT_THAT(text_of(folder / "plots" / "io_scaling.svg"), HasSubstr("</svg>"));
    } catch (const base::EnvironmentError& error) {
        EXPECT_THAT(error.what(), HasSubstr("gnuplot is not here"));
        EXPECT_TRUE(std::filesystem::exists(folder / "plots" / "plot_io_scaling.gp"));
    }
}

}  // namespace
}  // namespace ranklab::report::figures
