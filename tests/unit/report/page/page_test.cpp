// The page and its figures.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/figures/figure.hpp"
#include "report/formats/formats.hpp"
#include "report/model/scaling.hpp"
#include "report/model/values.hpp"
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
using ::testing::EndsWith;
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

std::vector<std::string> titles_of(const figures::Figure& figure) {
    std::vector<std::string> titles;
    for (const auto& series : figure.series) titles.push_back(series.title);
    return titles;
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

// Whatever a page shows of a group, in a table or a figure, is one number.
TEST(Page, HasOneValueForEachNumber) {
    Runs runs = sample_runs();
    const std::vector<double> jobs{0.0117, 0.0162, 0.013};
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        runs.push_back(
            step_run(fmt::format("d{}", i), 2, 0.11 + 0.01 * static_cast<double>(i), "bucketed"));
        runs.push_back(
            ladder_run({{"mpi-send", {0.02, {}}}, {"mpi-scatter", {jobs[i], {}}}}, {"", ""}));
        runs.back().id = fmt::format("ladder{}", i);
        runs.push_back(rung_run("mpi-scatter", 2, 1, {jobs[i], {}}));
        runs.back().id = fmt::format("rung{}", i);
        runs.back().hosts.resize(2);
    }
    const StoredRuns stored(runs);
    const model::Groups groups(stored.chosen(),
                               {{}, model::names_shown(vocabulary::Shown::summary)});
    const model::References none;
    std::vector<Frame> frames{page::summary_frame(groups, "train"),
                              page::summary_frame(groups, "io")};
    const auto sections = figures::sections_of({groups, stored.file(), none});
    for (const auto& section : sections)
        frames.insert(frames.end(), section.tables.begin(), section.tables.end());
    std::map<std::pair<Places, std::string>, std::set<double>> values;
    std::set<double> in_tables;
    std::set<std::string> texts;
    for (const auto& frame : frames)
        for (std::size_t row = 0; row < frame.rows.size(); ++row)
            for (std::size_t i = 0; i < frame.columns.size(); ++i) {
                const double number = frame.at(row, i).number;
                if (std::isnan(number)) continue;  // would equal any number in a set
                in_tables.insert(number);
                texts.insert(readable(number, frame.columns[i].unit));
                if (frame.columns[i].role == Role::measured && !frame.rows[row].members.empty())
                    values[{frame.rows[row].members, frame.columns[i].name}].insert(number);
            }
    std::size_t drawn = 0;
    for (const auto& section : sections)
        for (const auto& figure : section.figures)
            for (const auto& series : figure.series)
                if (section.id == "ladder" || section.id == "ways" ||
                    section.id.ends_with("-scaling"))
                    for (const auto& point : series.points) {
                        if (series.look == figures::Look::dashed || point.y != point.y) continue;
                        EXPECT_EQ(in_tables.count(point.y), 1U) << figure.name;
                        ++drawn;
                    }
    EXPECT_GT(drawn, 12U);
    // The cards: a ratio is of two medians in the tables, or in them itself.
    const auto is_of_two = [&](double ratio) {
        return std::ranges::any_of(in_tables, [&](double b) {
            return std::ranges::any_of(
                in_tables, [&](double a) { return std::abs(a / b - ratio) < 1e-12 * ratio; });
        });
    };
    std::size_t answered = 0;
    for (const auto& section : sections)
        for (const auto& [question, of, finding, doubts] : section.answers) {
            EXPECT_TRUE(in_tables.contains(finding.ratio.ratio) || is_of_two(finding.ratio.ratio))
                << question;
            for (const auto& value : base::split(finding.value, ','))
                EXPECT_TRUE(value.empty() || texts.contains(base::trim(value))) << value;
            ++answered;
        }
    EXPECT_GT(answered, 1U);
    EXPECT_GT(values.size(), 4U);
    for (const auto& [what, met] : values) EXPECT_EQ(met.size(), 1U) << what.second;
    std::set<double> scatter;
    for (const auto& frame : frames)
        for (std::size_t row = 0; row < frame.rows.size(); ++row)
            if (frame.at(row, 0).text.starts_with("mpi-scatter"))
                scatter.insert(frame.at(row, "job_time_s").number);
    EXPECT_THAT(scatter, ElementsAre(0.013)) << "the median over the three runs, in each table";
}

// A card is of the runs of one label, as the table of a campaign's section on the screen.
TEST(Page, PoolsNoSectionsOfACampaign) {
    Runs runs;
    for (int i = 0; i < 3; ++i)
        for (const auto& [label, ranks, step_s] : {std::tuple{"c-near", 1, 0.1},
                                                   {"c-near", 2, 0.11},
                                                   {"c-far", 1, 0.2},
                                                   {"c-far", 4, 0.4}}) {
            runs.push_back(
                step_run(fmt::format("{}{}{}", label, ranks, i), ranks, step_s + 0.001 * i));
            runs.back().label = label;
        }
    const StoredRuns stored(runs);
    const model::References none;
    const auto weak = [&](const model::Groups& groups) {
        for (auto& section : figures::sections_of({groups, stored.file(), none}))
            if (section.id == "weak-scaling") return section;
        return figures::Section();
    };
    const auto page = weak({stored.chosen(), {.labels_apart = true}});
    ASSERT_EQ(page.answers.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        const auto alone =
            weak({stored.chosen({.label = i == 0 ? "c-far" : "c-near"}), {}}).answers.at(0);
        EXPECT_EQ(page.answers[i].finding.ratio.ratio, alone.finding.ratio.ratio);
        EXPECT_EQ(page.answers[i].finding.subject, alone.finding.subject);
        EXPECT_EQ(std::ranges::count(page.answers[i].doubts, CaveatKind::differs, &Caveat::kind),
                  0);
    }
    const std::string text = page::html_page(stored.chosen());
    for (const auto& answer : page.answers) EXPECT_THAT(text, HasSubstr(sentence(answer.finding)));
    EXPECT_THAT(text, Not(HasSubstr("Which --label")));
    EXPECT_THAT(text, HasSubstr("<h1>c-far, c-near</h1>"));
    EXPECT_THAT(page::html_page(stored.chosen(), {}, "document_1"),
                HasSubstr("<h1>document_1</h1>"));
    for (auto& run : runs) run.label = run.id;  // a label a point: one series, as before
    const StoredRuns points(runs);
    EXPECT_EQ(model::Groups(points.chosen(), {.labels_apart = true}).size(), 3U);
}

// Sections of strategies have a question each, of their largest files; the largest ladder has its
// own.
TEST(Page, AnswersWhichStrategyOfASectionIsFastest) {
    Runs runs{sample_ladder(), step_run("t", 1, 0.1)};
    runs[0].label = "c-ladder";
    for (int i = 0; i < 5; ++i)
        for (const auto& [strategy, files, job_s] : {std::tuple{"binary", "100", 0.2},
                                                     {"hdf5-serial", "100", 0.3},
                                                     {"binary", "1000", 2.0},
                                                     {"hdf5-serial", "1000", 1.0}}) {
            runs.push_back(rung_run(strategy, 1, 1, {job_s + 0.001 * i, {}}));
            runs.back().id = fmt::format("{}{}{}", strategy, files, i);
            runs.back().label = "c-onefile";
            runs.back().config[1].value = files;
        }
    const auto ways = [&] {
        const StoredRuns stored(runs);
        const model::Groups groups(stored.chosen(), {.labels_apart = true});
        return figures::ways_section({groups, stored.file(), {}});
    };
    const auto section = ways();
    ASSERT_EQ(section.answers.size(), 1U);
    EXPECT_EQ(section.answers[0].question, "Which --strategy is fastest?");
    EXPECT_EQ(section.answers[0].of, "1000 records of 300 x 300 float64, ranks 1, workers 1");
    EXPECT_EQ(section.answers[0].finding.subject, "strategy hdf5-serial");
    ASSERT_EQ(section.figures.size(), 1U);
    EXPECT_EQ(section.figures[0].categories.size(), 2U);
    for (auto& run : runs) run.label = "c-ladder";
    EXPECT_TRUE(ways().answers.empty());
}

TEST(Page, ShowsTheQuestionsOfACampaignFirst) {
    const StoredRuns stored(sample_runs());
    const std::string page =
        page::html_page(stored.chosen(), {}, "c", {{"Is gpu worth it?", "no: 2 times as fast"}});
    EXPECT_LT(page.find("Is gpu worth it?"), page.find("Do more ranks"));
    EXPECT_THAT(page, HasSubstr("<p class=\"answer\">no: 2 times as fast</p>"));
}

// Rows of other numbers of files are no rivals, and the tables say so.
TEST(Page, ShowsTheFilesOfRowsThatWroteOtherNumbersOfThem) {
    Runs runs{rung_run("mpi-send", 1, 1, {0.4, {}}), rung_run("binary", 1, 1, {0.3, {}})};
    const auto files = [&] {
        const StoredRuns stored(runs);
        const Frame frame = page::summary_frame({stored.chosen(), {}}, "io");
        std::set<std::string> texts;
        for (std::size_t row = 0; row < frame.rows.size(); ++row)
            texts.insert(frame.at(row, "files").text);
        const std::string screen = formats::groups_text({stored.chosen(), {{"strategy"}}});
        EXPECT_EQ(screen.find("  files  ") < screen.size(),
                  frame.find("files") < frame.columns.size());
        return texts;
    };
    EXPECT_THAT(files(), ElementsAre(""));
    runs[1].config[1].value = "7";
    EXPECT_THAT(files(), ElementsAre("100", "7"));
}

// At most three lines are open, whatever the runs' warnings.
TEST(Page, BeginsWithAnswersAndFewWarnings) {
    Runs runs = sample_runs();
    for (int i = 0; i < 9; ++i) runs[0].warnings.push_back(fmt::format("warning {}", i));
    runs[1].valid = false;
    const StoredRuns stored(runs);
    const std::string page = page::html_page(stored.chosen());
    const auto at = [&](const char* what) { return page.find(what); };
    EXPECT_LT(at("id=\"answers\""), at("id=\"warnings\""));
    EXPECT_LT(at("id=\"warnings\""), at("<nav"));
    const std::string open =
        page.substr(at("id=\"warnings\""), at("<details>") - at("id=\"warnings\""));
    std::size_t lines = 0;
    for (auto next = open.find("<li"); next != std::string::npos; next = open.find("<li", next + 1))
        ++lines;
    EXPECT_EQ(lines, 3U);
    EXPECT_THAT(page, HasSubstr("warning 8"));
}

figures::Section section_named(const Made& made, const std::string& id) {
    for (auto& section : figures::sections_of(made.source()))
        if (section.id == id) return section;
    return {};
}

// A card is firm if the interval of at least three runs a point leaves 1 out.
TEST(Answers, AreFirmIfTheIntervalSaysSo) {
    const auto verdict = [](int runs, double two_s) {
        Runs all;
        for (int i = 0; i < runs; ++i) {
            all.push_back(step_run(fmt::format("a{}", i), 1, 0.1 + 0.0001 * i));
            all.push_back(step_run(fmt::format("b{}", i), 2, two_s + 0.0001 * i));
        }
        const auto section = section_named(Made(all), "weak-scaling");
        return section.answers.at(0).finding.verdict;
    };
    EXPECT_EQ(verdict(4, 0.11), Verdict::scales);
    EXPECT_EQ(verdict(4, 0.4), Verdict::slows);
    EXPECT_EQ(verdict(4, 0.2), Verdict::scales_undecided);
    EXPECT_EQ(verdict(1, 0.11), Verdict::scales_undecided) << "no interval";
}

TEST(Figures, HaveABarForEachValueOfASetting) {
    Runs runs{step_run("a", 1, 0.1), step_run("b", 1, 0.06), step_run("c", 1, 0.2)};
    runs[0].config.push_back({"precision", "fp32", false});
    runs[1].config.push_back({"precision", "bf16", false});
    runs[2].config.push_back({"precision", "fp64", false});
    const auto section = section_named(Made(runs), "ways");
    ASSERT_EQ(section.figures.size(), 1U);
    EXPECT_THAT(section.figures[0].categories,
                ElementsAre(EndsWith("precision bf16"), EndsWith("precision fp32"),
                            EndsWith("precision fp64")));
    EXPECT_EQ(section.figures[0].series[0].points[0].y, 0.06);
    ASSERT_EQ(section.answers.size(), 1U);
    EXPECT_THAT(section.answers[0].finding.subject, EndsWith("precision bf16"));
}

StoredRun with_loss(StoredRun run, double loss) {
    results::Measurement losses = run.measurements[0];
    losses.name = "train_loss", losses.unit = "1";
    losses.samples.assign(8, loss);
    run.measurements.push_back(losses);
    return run;
}

TEST(Figures, OfLossesHaveALineForEachGlobalBatch) {
    Runs runs;
    for (const int ranks : {1, 2, 4})
        runs.push_back(with_loss(step_run(fmt::format("r{}", ranks), ranks, 0.1), ranks));
    for (const auto& figure : section_named(Made(runs), "losses").figures)
        EXPECT_THAT(titles_of(figure),
                    testing::UnorderedElementsAre(EndsWith("1 rank, global batch 32"),
                                                  EndsWith("2 ranks, global batch 64"),
                                                  EndsWith("4 ranks, global batch 128")));
}

TEST(Figures, OfLossesHaveTheMedianItsRangeAndValidation) {
    Runs runs;
    for (const double loss : {1.0, 3.0, 2.0})
        runs.push_back(with_loss(step_run(fmt::format("r{}", loss), 1, 0.1), loss));
    runs.back().tables.push_back({"epochs",
                                  {{"epoch", std::vector<std::int64_t>{1, 2}},
                                   {"steps", std::vector<std::int64_t>{4, 4}},
                                   {"validation_loss", std::vector<double>{2.5, 1.5}}}});
    const auto section = section_named(Made(runs), "losses");
    ASSERT_FALSE(section.figures.empty());
    const auto& series = section.figures[0].series;
    ASSERT_EQ(series.size(), 2U);
    EXPECT_EQ(series[0].points[0].y, 2);
    EXPECT_EQ(series[0].points[0].interval.low, 1);
    EXPECT_EQ(series[0].points[0].interval.high, 3);
    EXPECT_EQ(series[1].points[1].x, 8);
    EXPECT_EQ(series[1].points[1].y, 1.5);
    EXPECT_THAT(series[0].title, HasSubstr("global batch 32"));
}

TEST(Figures, HaveNoLadderOfOneStrategyAndTheLargestOfALabel) {
    StoredRun large = ladder_run({{"a", {2, {}}}, {"b", {1, {}}}, {"c", {3, {}}}}, {"", "", ""}),
              small = ladder_run({{"a", {2, {}}}, {"b", {1, {}}}}, {"", ""}),
              alone = ladder_run({{"a", {2, {}}}}, {""});
    large.id = "l", small.id = "s", alone.id = "o", alone.label = "other";
    const auto section = section_named(Made({large, small, alone}), "ladder");
    ASSERT_EQ(section.tables.size(), 1U);
    EXPECT_EQ(section.tables[0].rows.size(), 3U);
    StoredRun later = large;
    later.id = "m";
    later.config[1].value = "1";
    const auto answer = section_named(Made({large, small, later}), "ladder").answers.at(0);
    EXPECT_THAT(answer.of, HasSubstr("100 records")) << "of two with as many strategies the larger";
}

TEST(Figures, DrawPublishedCurvesBesideOurs) {
    Runs runs{rung_run("mpi-scatter", 1, 1, {0.4, {}}), rung_run("mpi-scatter", 2, 1, {0.25, {}})};
    Made made(runs);
    made.references = model::read_references(RANKLAB_REFERENCE_FOLDER);
    const auto section = section_named(made, "reference");
    ASSERT_EQ(section.figures.size(), 1U);
    const auto& series = section.figures[0].series;
    const auto ours =
        std::ranges::find_if(series, [](const auto& one) { return one.title.starts_with("ours"); });
    ASSERT_NE(ours, series.end());
    EXPECT_NEAR(ours->points[1].y, 1.6, 1e-9);
    EXPECT_THAT(titles_of(section.figures[0]),
                ::testing::Contains("published: MPI Scatter, size 1000"));
    EXPECT_THAT(section.figures[0].caption, HasSubstr("USC CARC"));
}

// The first point is a single device's run, the other ones are of several ranks.
TEST(Figures, DrawPublishedCurvesBesideOursFromOneDeviceOn) {
    Runs runs{step_run("a", 1, 0.1, "none"), step_run("b", 2, 0.1)};
    runs[0].config[1].value = "single";
    for (std::size_t i = 0; i < runs.size(); ++i) {
        runs[i].config[0].value = "resnet152";
        runs[i].measurements.push_back(
            results::one_value("epoch_time_s", "s", results::Kind::cost, {i == 0 ? 200.0 : 125.0}));
    }
    Made made(runs);
    made.references = model::read_references(RANKLAB_REFERENCE_FOLDER);
    const auto section = section_named(made, "reference");
    ASSERT_EQ(section.figures.size(), 1U);
    const auto& series = section.figures[0].series;
    EXPECT_EQ(series.front().title, "published: ResNet-152, LUMI");
    ASSERT_EQ(series.size(), 2U);
    EXPECT_NEAR(series[1].points.at(1).y, 1.6, 1e-9);
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
// times, and three layers.
StoredRun watched_run(const std::string& id) {
    using Texts = std::vector<std::string>;
    using Numbers = std::vector<double>;
    using Counts = std::vector<std::int64_t>;
    StoredRun run = step_run(id, 2, 0.1);
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
        {"layers", {{"layer", Texts{"conv1", "norm", "fc"}}, {"percent", Numbers{30, 10, 60}}}},
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

TEST(Figures, ShowTheInsideOfTheNewestRunThatHasIt) {
    StoredRun invalid = watched_run("c");
    invalid.valid = false;
    const Made made({watched_run("a"), step_run("b", 2, 0.1), invalid});
    const auto inside = figures::inside_section(made.source());
    ASSERT_EQ(inside.figures.size(), 2U);
    const auto &cpu = inside.figures[0], &power = inside.figures[1];
    EXPECT_EQ(cpu.series.size(), 9U);
    EXPECT_EQ(titles_of(cpu).front(), "rank 0 on node01");
    EXPECT_EQ(titles_of(cpu).back(), "host node01");
    EXPECT_EQ(cpu.series.back().points[0].y, 200);
    EXPECT_THAT(cpu.caption, HasSubstr("8 of 9 ranks"));
    EXPECT_THAT(titles_of(power), ElementsAre("GPU-a of node01", "GPU-b of node01"));
    EXPECT_EQ(power.series[1].points.size(), 1U);
    EXPECT_THAT(
        page::html_page(made.stored.chosen()),
        AllOf(HasSubstr("run a"), HasSubstr("x, y"), HasSubstr("aten::mm"), HasSubstr("conv1"),
              HasSubstr("fig-monitor"), HasSubstr("fig-gpu_power"), Not(HasSubstr("not drawn"))));
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
