// The page and its figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.hpp"
#include "report/figures/figure.hpp"
#include "report/model/scaling.hpp"
#include "report/page/parts.hpp"
#include "unit/report/comm_runs_sample.hpp"
#include "unit/report/io_runs_sample.hpp"
#include "unit/report/outputs.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report {
namespace {

using results::StoredRun;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Runs = std::vector<StoredRun>;

Runs sample_runs() {
    Runs runs{step_run("a", 1, 0.1), step_run("b", 2, 0.11), step_run("c", 2, 0.2, "none"),
              comm_run(), sample_ladder()};
    runs[1].tables.push_back({"phases",
                              {{"phase", std::vector<std::string>{"forward", "other", "step"}},
                               {"per_hit_s", std::vector<double>{0.1, 0.01, 0.11}},
                               {"percent", std::vector<double>{91, 9, 100}}}});
    return runs;
}

struct Made {
    StoredRuns stored;
    model::Groups groups;
    model::References references;

    explicit Made(const Runs& runs) : stored(runs), groups(stored.chosen(), {}) {}
    figures::Source source() const { return {groups, stored.file(), references}; }
};

TEST(Page, SaysWhatTheRunsSay) {
    const StoredRuns stored(sample_runs());
    const std::string page = page::html_page(stored.chosen());
    for (const char* said : {"id=\"weak-scaling\"", "id=\"phases\"", "id=\"collectives\"",
                             "id=\"ladder\"", "id=\"summary\"", "320 samples/s", "mnist-cnn",
                             "data:image/svg+xml,", "mpi-send, 2 ranks"})
        EXPECT_THAT(page, HasSubstr(said));
    EXPECT_THAT(
        page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("http:")), Not(HasSubstr("https:"))));
}

TEST(Page, IsOneWhateverTheTextsAre) {
    StoredRun run = step_run("a", 1, 0.1);
    run.label = run.argv = "</td><script>alert(1)</script>\x1b \xff";
    run.warnings = {run.label};
    run.config[0].value = run.label;
    const StoredRuns stored(Runs{run});
    EXPECT_THAT(page::html_page(stored.chosen()),
                AllOf(Not(HasSubstr("<script")), Not(HasSubstr("\x1b"))));
    EXPECT_THAT(page::html_page(stored.chosen({"", "no such", {}, 0})), HasSubstr("No run"));
}

TEST(Figures, HaveTheNumbersOfTheRuns) {
    const Made made(sample_runs());
    Outputs all;
    for (const auto& section : figures::sections_of(made.source()))
        for (const auto& figure : section.figures) {
            std::string numbers = figure.title + "; " + figure.caption + '\n';
            for (const auto& row : frame_of(figure).rows) {
                for (const auto& cell : row.cells) numbers += exact(cell) + "  ";
                numbers += '\n';
            }
            all.add(figure.name, numbers);
        }
    all.expect("figures.txt");
}

TEST(Figures, AreDrawnWithTheirScriptsAndNumbers) {
    const Made made(sample_runs());
    const results::TempFolder folder;
    const auto pictures = figures::plot(made.source(), folder / "plots");
    ASSERT_FALSE(pictures.empty());
    for (const auto& [path, title] : pictures) {
        std::ifstream file(path);
        const std::string svg(std::istreambuf_iterator<char>(file), {});
        EXPECT_THAT(svg, AllOf(HasSubstr("<svg"), HasSubstr("</svg>"))) << path;
        for (const char* ending : {".pdf", ".png", ".gp", ".csv"})
            EXPECT_GT(
                std::filesystem::file_size(std::filesystem::path(path).replace_extension(ending)),
                20U)
                << path;
    }
    StoredRun nothing = step_run("a", 1, 0.1);
    nothing.valid = false;
    EXPECT_THROW(figures::plot(Made({nothing}).source(), folder / "none"), base::OptionError);
}

// A run with monitor samples of nine ranks (rank 0 idles most), their host and two GPUs at two
// times, and three layers, one of them without FLOPs.
StoredRun watched_run(const std::string& id) {
    using Texts = std::vector<std::string>;
    using Numbers = std::vector<double>;
    using Counts = std::vector<std::int64_t>;
    StoredRun run = step_run(id, 2, 0.1);
    run.context.push_back({"training", "roof_gflops_per_s", "100"});
    run.context.push_back({"training", "roof_gb_per_s", "10"});
    run.context.push_back({"host", "logical_cpus", "4"});
    Numbers times, cpu;
    Counts ranks;
    for (const double time : {1.0, 2.0})
        for (std::int64_t rank = -1; rank < 9; ++rank) {
            times.push_back(time);
            ranks.push_back(rank);
            cpu.push_back(rank < 0 ? 200 : 90 + static_cast<double>(rank));
        }
    run.tables = {
        {"lines", {{"line", Counts{1, 2}}, {"contents", Texts{"for batch:", "    x, y = batch"}}}},
        {"layers",
         {{"layer", Texts{"conv1", "norm", "fc"}},
          {"percent", Numbers{30, 10, 60}},
          {"forward_GFLOP_per_s", Numbers{80, 0, 2}},
          {"flops_per_byte", Numbers{64, 0, 0.5}}}},
        {"operators", {{"operator", Texts{"aten::mm"}}, {"self_s", Numbers{0.5}}}},
        {"monitor",
         {{"time_s", times},
          {"host", Texts(times.size(), "node01")},
          {"rank", ranks},
          {"cpu_percent", cpu}}},
        {"gpu_monitor",
         {{"time_s", Numbers{1, 1, 2, 2}},
          {"host", Texts(4, "node01")},
          {"gpu", Texts{"GPU-a", "GPU-b", "GPU-a", "GPU-b"}},
          {"power_W", Numbers{300, NAN, 310, 90}}}}};
    return run;
}

std::vector<std::string> titles_of(const figures::Figure& figure) {
    std::vector<std::string> titles;
    for (const auto& series : figure.series) titles.push_back(series.title);
    return titles;
}

TEST(Figures, ShowTheInsideOfTheNewestRunThatHasIt) {
    StoredRun invalid = watched_run("c");
    invalid.valid = false;
    const Made made({watched_run("a"), step_run("b", 2, 0.1), invalid});
    const auto inside = figures::inside_section(made.source());
    ASSERT_EQ(inside.figures.size(), 3U);
    const auto &roofline = inside.figures[0], &cpu = inside.figures[1], &power = inside.figures[2];
    EXPECT_THAT(titles_of(roofline), ElementsAre("fc", "conv1", "roof: 100 GFLOP/s, 10.0 GB/s"));
    const auto& roof = roofline.series.back().points;
    ASSERT_EQ(roof.size(), 3U);
    EXPECT_EQ(std::pair(roof[0].x, roof[0].y), std::pair(0.5, 5.0));
    EXPECT_EQ(std::pair(roof[1].x, roof[1].y), std::pair(10.0, 100.0));
    EXPECT_EQ(std::pair(roof[2].x, roof[2].y), std::pair(64.0, 100.0));
    EXPECT_EQ(cpu.series.size(), 9U);
    EXPECT_EQ(titles_of(cpu).front(), "rank 0 on node01");
    EXPECT_EQ(titles_of(cpu).back(), "host node01");
    EXPECT_EQ(cpu.series.back().points[0].y, 200);
    EXPECT_THAT(cpu.caption, HasSubstr("8 of 9 ranks"));
    EXPECT_THAT(titles_of(power), ElementsAre("GPU-a of node01", "GPU-b of node01"));
    EXPECT_EQ(power.series[1].points.size(), 1U);
    EXPECT_THAT(page::html_page(made.stored.chosen()),
                AllOf(HasSubstr("run a"), HasSubstr("x, y"), HasSubstr("aten::mm"),
                      HasSubstr("fig-roofline"), HasSubstr("fig-monitor"),
                      HasSubstr("fig-gpu_power"), Not(HasSubstr("not drawn"))));
}

TEST(Figures, SayNothingOfAnInsideThatNoRunHas) {
    const Made made(sample_runs());
    EXPECT_TRUE(figures::inside_section(made.source()).figures.empty());
    EXPECT_THAT(page::html_page(made.stored.chosen()), Not(HasSubstr("id=\"inside\"")));
}

// Numbers that gnuplot cannot draw, and titles with its quotes.
TEST(Figures, OfAnyNumbersAndTextsAreScripts) {
    figures::Figure figure{
        .name = "any", .title = "it's `rm -rf`\n", .x_label = "x", .y_label = "y", .unit = "s"};
    figure.series = {
        {"a'b\\n", figures::Look::points, 0, {{1, NAN}, {2, INFINITY}, {3, 1e305}, {4, 2}}}};
    std::string why_not;
    EXPECT_TRUE(figures::draw_svg(figure, why_not).has_value()) << why_not;
    figure.series[0].points.pop_back();
    EXPECT_TRUE(figure.empty());
}

}  // namespace
}  // namespace ranklab::report
