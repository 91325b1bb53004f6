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
        const auto files =
            plot({sample_ladder(), rung_run("mpi-send", 1, 1, {8, {}}), rung_run("mpi-send", 2, 1, {4, {}})},
                 folder / "plots");
        EXPECT_EQ(files.size(),
                  26U);  // of each: data, script, .svg, .pdf, .csv, .tex; and the groups' tables
        for (const auto& file : files) EXPECT_TRUE(std::filesystem::exists(file)) << file;
        EXPECT_THAT(text_of(folder / "plots" / "ladder.svg"), HasSubstr("</svg>"));
        EXPECT_THAT(text_of(folder / "plots" / "io_scaling.svg"), HasSubstr("</svg>"));
    } catch (const base::EnvironmentError& error) {
        EXPECT_THAT(error.what(), HasSubstr("gnuplot is not here"));
        EXPECT_TRUE(std::filesystem::exists(folder / "plots" / "plot_io_scaling.gp"));
    }
}

}  // namespace
}  // namespace ranklab::report::figures
