// The page and the figures: what stands in them, whatever the file holds.
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

    explicit Made(const Runs& runs)
        : stored(runs), groups(model::runs_frame(stored.chosen(), {})) {}
    figures::Source source() const { return {groups, stored.file(), references}; }
};

TEST(Page, SaysWhatTheRunsSay) {
    const StoredRuns stored(sample_runs());
    const std::string page = page::html_page(stored.chosen());
    for (const char* said : {"id=\"weak-scaling\"", "id=\"phases\"", "id=\"collectives\"",
                             "id=\"ladder\"", "id=\"summary\"", "320 samples/s", "mnist-cnn",
                             "data:image/svg+xml;base64,", "mpi-send, 2 ranks"})
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
    EXPECT_THAT(page::html_page(stored.chosen({"", "no such", {}, 0})),
                HasSubstr("No run of this file"));
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
    const auto plotted = figures::plot(made.source(), folder / "plots");
    ASSERT_FALSE(plotted.pictures.empty());
    for (const auto& [path, title] : plotted.pictures) {
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

// Numbers that no picture has room for, and titles that would end gnuplot's quotes.
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
