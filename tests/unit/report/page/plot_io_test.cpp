#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "report/figures/plot_io_scaling.hpp"
#include "report/figures/plot_ladder.hpp"
#include "report/page/plots.hpp"
#include "temp_folder.hpp"
#include "unit/report/io_runs_sample.hpp"

namespace ranklab::report::page {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

TEST(PlotLadder, HasBarsInLadderOrderWithIntervalsAndSpeedups) {
    const tests::TempFolder folder;
    ASSERT_TRUE(figures::prepare_ladder({sample_ladder()}, folder.path()).has_value());
    const auto data = text_of(folder / "ladder.dat");
    EXPECT_THAT(data, HasSubstr("\n1 \"text-loop, 2 ranks\" 4.8 4.7 5 5 \"4.8\" 1 NaN NaN 1 \"1\"\n2 "
                                "\"text-vectorized, 2 ranks\" 1.4 "));
    EXPECT_THAT(data,
                HasSubstr("\"process-pool, 2 ranks [1]\" 0.3 NaN NaN 0.3 \"0.3\" 16 NaN NaN 16 \"16\"\n"));
    const auto script = text_of(folder / "plot_ladder.gp");
    EXPECT_THAT(script, HasSubstr("'job time [s], logarithmic'"));  // 40 x
    EXPECT_THAT(script, HasSubstr("Speedup over text-loop, 2 ranks (4.8 s)"));
    EXPECT_THAT(script,
                HasSubstr("[2] collective writing was asked for and fell back to independent: it''s"));
    EXPECT_THAT(script, HasSubstr("with vectors heads"));
}

TEST(PlotLadder, IsLinearWhereRungsAreNearAndNamesAnotherBase) {
    const tests::TempFolder folder;
    figures::prepare_ladder({ladder_run({{"binary", {2, {}, 3}}, {"mpi-send", {1, {}, 3}}}, {"", ""})},
                            folder.path());
    const auto script = text_of(folder / "plot_ladder.gp");
    EXPECT_THAT(script, Not(HasSubstr("logarithmic")));
    EXPECT_THAT(script, HasSubstr("Speedup over binary, 2 ranks (2 s)"));
    EXPECT_THAT(script, Not(HasSubstr("with vectors heads")));
    EXPECT_THAT(script, HasSubstr("fewer than 6"));
}

TEST(PlotIoScaling, HasPointsIntervalsAndTheLinearLine) {
    const tests::TempFolder folder;
    ASSERT_TRUE(figures::prepare_io_scaling(
                    {rung_run("mpi-send", 1, 1, {8, {6, 10}}), rung_run("mpi-send", 2, 1, {4, {3, 5}})},
                    folder.path())
                    .has_value());
    EXPECT_THAT(text_of(folder / "io_scaling.dat"),
                HasSubstr("\n1 1 8 6 10 1 NaN NaN\n2 2 4 3 5 2 1.2 3.33"));
    const auto script = text_of(folder / "plot_io_scaling.gp");
    EXPECT_THAT(script, HasSubstr("set logscale x 2"));
    EXPECT_THAT(script, HasSubstr("x / 1.0 with lines dashtype 2"));
    EXPECT_THAT(script, HasSubstr("'mpi-send, over ranks: base 1 rank, 8 s'"));
    EXPECT_THAT(script, HasSubstr("with vectors heads"));
    EXPECT_THAT(script, Not(HasSubstr("linespoints")));
}

TEST(PlotIo, HasNothingToDrawOfOtherRuns) {
    const tests::TempFolder folder;
    EXPECT_FALSE(figures::prepare_ladder({results::Run{}}, folder.path()).has_value());
    EXPECT_FALSE(
        figures::prepare_io_scaling({rung_run("mpi-send", 2, 1, {4, {}})}, folder.path()).has_value());
}

TEST(PlotIo, IsDrawnWhereGnuplotIs) {
    const tests::TempFolder folder;
    try {
        const auto files =
            plot({sample_ladder(), rung_run("mpi-send", 1, 1, {8, {}}), rung_run("mpi-send", 2, 1, {4, {}})},
                 folder / "plots");
        EXPECT_EQ(files.size(), 8U);  // of each: data, script, .svg, .pdf
        for (const auto& file : files) EXPECT_TRUE(std::filesystem::exists(file)) << file;
        EXPECT_THAT(text_of(folder / "plots" / "ladder.svg"), HasSubstr("</svg>"));
        EXPECT_THAT(text_of(folder / "plots" / "io_scaling.svg"), HasSubstr("</svg>"));
    } catch (const base::EnvironmentError& error) {
        EXPECT_THAT(error.what(), HasSubstr("gnuplot is not here"));
        EXPECT_TRUE(std::filesystem::exists(folder / "plots" / "plot_io_scaling.gp"));
    }
}

}  // namespace
}  // namespace ranklab::report::page
