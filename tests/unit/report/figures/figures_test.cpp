// The figures' numbers; their data and gnuplot scripts, and tables for a paper, whole in golden files.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "report/figures/figure.hpp"
#include "report/figures/lines.hpp"
#include "report/figures/table_files.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"
#include "unit/report/comm_runs_sample.hpp"
#include "unit/report/io_runs_sample.hpp"
#include "unit/report/outputs.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::figures {
namespace {

using results::StoredRun;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using Runs = std::vector<StoredRun>;
using Texts = std::vector<std::string>;

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

/// What `make(source)` makes of the runs, which have the samples of their times.
template <class Make>
auto made(const Runs& runs, Make make) {
    model::GroupedRuns grouped;
    for (auto run : runs) grouped.add(std::move(run));
    const auto load = [&](const std::string& id) {
        StoredRun run = *std::ranges::find(runs, id, &StoredRun::id);
        if (run.command == "io" && !run.measurements.empty())
            for (int i = -3; i <= 3; ++i)
                run.measurements[0].samples.push_back(run.measurements[0].summary.median * (1 + 0.02 * i));
        return run;
    };
    grouped.complete(load, 100);
    return make(Source{grouped, load, {}});
}

/// The files that gnuplot gets for paper.
void add_files(Outputs& all, const std::string& name, const std::vector<Figure>& figures) {
    const tests::TempFolder folder;
    for (const auto& one : figures) {
        prepare_chart(one.chart, one.caption, folder.path(), Medium::paper);
        for (const auto& file : {one.chart.name + ".dat", "plot_" + one.chart.name + ".gp"})
            all.add(name + ": " + file, text_of(folder / file));
    }
}

// 40 x apart: dots on a logarithmic axis, which has no zero that a bar could begin at.
TEST(Scripts, AreAsStored) {
    Outputs all;
    add_files(all, "ladder", made({sample_ladder()}, ladder_figures));
    add_files(
        all, "near rungs",
        made({ladder_run({{"binary", {2, {}, 3}}, {"mpi-send", {1, {}, 3}}}, {"", ""})}, ladder_figures));
    add_files(all, "scaling of writing",
              made({rung_run("mpi-send", 1, 1, {8, {6, 10}}), rung_run("mpi-send", 2, 1, {4, {3, 5}})},
                   io_scaling_figures));
    all.expect("scripts.txt");
    EXPECT_TRUE(made({results::Run{}}, ladder_figures).empty());
    EXPECT_TRUE(made({rung_run("mpi-send", 2, 1, {4, {}})}, io_scaling_figures).empty());
}

TEST(PaperTables, AreLaTeXWithoutMarkupOfTheRunsAndCsvWithAllDigits) {
    const tests::TempFolder folder;
    const FileTable table{
        "t",
        "50 % & more",
        {"a_b", "peak_rss_bytes"},
        {{{"\\input{x}, \"q\""}, {"", 3145728, {2097152, 4194304.5}}}, {{"plain"}, {"n/a"}}}};
    ASSERT_EQ(write_table(table, folder.path()).size(), 2U);
    Outputs all;
    all.add("t.csv", text_of(folder / "t.csv"));
    all.add("t.tex", text_of(folder / "t.tex"));
    all.expect("paper_table.tex");
}

// Of seven series each has a colour, a mark or a dash of its own.
TEST(PaperCharts, TellSeriesApartWithoutColoursToo) {
    const tests::TempFolder folder;
    Chart chart{.name = "many", .title = "Many", .x_label = "x", .y_label = "y"};
    for (std::size_t i = 0; i < 2 * kColours.size(); ++i)
        chart.series.push_back({"line", Look::line, i, {{1, 1}, {2, 2}}});
    prepare_chart(chart, {}, folder.path(), Medium::paper);
    const auto script = text_of(folder / "plot_many.gp");
    std::set<std::string> looks;
    for (std::size_t at = script.find("with lines"); at != std::string::npos;
         at = script.find("with lines", at + 1))
        looks.insert(script.substr(at, script.find(" title", at) - at));
    EXPECT_EQ(looks.size(), 2 * kColours.size());
    for (std::size_t i = 0; i + 1 < kColours.size(); ++i) EXPECT_NE(dash_index(i), dash_index(i + 1));
}

TEST(Plot, DrawsWhereGnuplotIs) {
    const tests::TempFolder folder;
    try {
        const auto [pictures, beside] =
            plot({sample_ladder(), rung_run("mpi-send", 1, 1, {8, {}}), rung_run("mpi-send", 2, 1, {4, {}})},
                 folder / "plots");
        EXPECT_EQ(pictures.size(), 4U);
        EXPECT_EQ(beside.size(), 22U);  // of each: data, script, .pdf, .csv, .tex; and the groups' tables
        for (const auto& file : beside) EXPECT_TRUE(std::filesystem::exists(file)) << file;
        for (const auto& [path, title] : pictures) {
            EXPECT_THAT(text_of(path), HasSubstr("</svg>")) << path;
            EXPECT_FALSE(title.empty()) << path;
        }
    } catch (const base::EnvironmentError&) {  // gnuplot is not here
        EXPECT_TRUE(std::filesystem::exists(folder / "plots" / "plot_io_scaling.gp"));
    }
}

TEST(Plot, RefusesWhatCannotBeDrawnOrWritten) {
    const tests::TempFolder folder;
    EXPECT_THROW(plot({results::Run{}}, folder.path()), base::OptionError);
    std::ofstream(folder.path() / "file") << "x";
    const auto sentence =
        tests::thrown_sentence<base::OptionError>([&] { plot({sample_ladder()}, folder.path() / "file"); });
    EXPECT_THAT(sentence, AllOf(HasSubstr("Not a directory"), HasSubstr("(--plots)")));
}

StoredRun ladder_of(const std::string& id, const std::string& strategies,
                    const std::vector<results::Setting>& settings = {}, const std::string& label = "") {
    auto run = sample_ladder();
    run.id = id;
    run.label = label;
    run.started_utc = "2026-11-21T10:15:0" + id + "Z";
    run.config[0].value = strategies;
    run.config.insert(run.config.end(), settings.begin(), settings.end());
    return run;
}

std::vector<TitledFigures> ladders_among(const Runs& runs, std::size_t most = 4) {
    return made(runs, [&](const Source& source) { return figures_of_ladders(source, most); });
}

Texts titles_among(const Runs& runs, std::size_t most = 4) {
    Texts titles;
    for (const auto& one : ladders_among(runs, most)) titles.push_back(one.title);
    return titles;
}

// A later one in another place hides none; one at the same place is the newer state of it.
TEST(Ladders, OfOtherLabelsAndDirectoriesStandBesideTheNewest) {
    const auto of = [](const char* id, const char* label, const char* directory) {
        return ladder_of(id, "all", {{"directory", directory}}, label);
    };
    const Runs runs{of("0", "", "/scratch"), of("1", "", "/home"), of("2", "nightly", "/home"),
                    of("3", "", "/scratch")};
    EXPECT_THAT(titles_among(runs), ElementsAre(EndsWith(", directory /scratch"), "nightly, directory /home",
                                                EndsWith(", directory /home")));
    std::set<std::string> names;
    for (const auto& one : ladders_among(runs))
        for (const auto& figure : one.figures) EXPECT_TRUE(names.insert(figure.chart.name).second);
    EXPECT_EQ(titles_among(runs, 2).size(), 2U);
    EXPECT_THAT(titles_among(runs, 1), ElementsAre("")) << "alone it needs no name";
}

// Sweeps of one strategy take no place of those that compare strategies; one that was cut short hides no
// whole one, though it is newer, and says what it is; titles name every setting that differs.
TEST(Ladders, AreTitledByWhatDiffers) {
    EXPECT_THAT(
        titles_among({ladder_of("0", "all"), ladder_of("1", "text-loop,binary"), ladder_of("2", "mpi-send"),
                      ladder_of("3", "process-pool", {{"sweep-workers", "1,2"}})}),
        ElementsAre("text-loop,binary", "all"));
    auto cut = ladder_of("1", "all");
    cut.exit_code = 130;
    EXPECT_THAT(titles_among({ladder_of("0", "all"), cut}), ElementsAre("all", "all, cut short: SIGINT"));
    EXPECT_THAT(plain_text(ladders_among({cut})[0].figures[0].caption), HasSubstr("SIGINT"));
    const auto of = [](const std::string& id, const std::string& fsync, const std::string& write_only) {
        return ladder_of(id, "all", {{"fsync", fsync}, {"write-only", write_only}});
    };
    EXPECT_THAT(titles_among({of("0", "false", "true"), of("1", "true", "false")}),
                ElementsAre("all, fsync true, write-only false", "all, fsync false, write-only true"));
}

// Every series' base lies at (1, 1): which one was crowded is no matter of the place.
TEST(Scaling, TheBaseThatWasOversubscribedIsMarkedAndNoOther) {
    Runs runs;
    for (const char* sync : {"flat", "ring"})
        for (const int ranks : {1, 2}) {
            runs.push_back(step_run(fmt::format("{}{}", sync, ranks), ranks, 0.1, sync));
            for (auto& row : runs.back().hosts) row.cpus = "0-3";
        }
    std::erase_if(runs[2].config, [](const auto& one) { return one.key == "threads"; });
    runs[2].config.push_back({"threads", "8", true});  // of ring's base
    const auto table = joined_table(
        made(runs, [](const Source& source) { return scaling_figures(source, stats::Scaling::weak); }));
    Texts marked;
    for (const auto& row : table.rows)
        if (plain_text(row[1]).find("oversubscribed") != std::string::npos)
            marked.push_back(plain_text(row[0]));
    EXPECT_THAT(marked, ElementsAre(AllOf(HasSubstr("ring"), Not(HasSubstr("flat")))));
}

// Two epochs of three steps on 20 samples: global batches of 8, 8 and 4; the first step is warm-up; two
// ranks.
StoredRun losses_run() {
    const auto measured = [](const char* name, std::size_t columns, std::vector<double> warmup,
                             std::vector<double> samples) {
        results::Measurement m;
        m.name = name;
        m.columns = columns;
        m.warmup = std::move(warmup);
        m.samples = std::move(samples);
        return m;
    };
    StoredRun run;
    run.id = "20260101T000000Z-000001";
    run.label = "it's large";
    run.config = {{"global-batch-size", "8", true}, {"lr-scaling", "sqrt"}};
    run.measurements = {measured("train_loss", 1, {6}, {5, 4, 3, 2, 1}),
                        measured("step_time_s", 2, {1, 2}, {3, 1, 1, 1, 1, 4, 1, 1, 2, 1}),
                        measured("learning_rate", 1, {0.1}, {0.2, 0.3, 0.4, 0.5, 0.6})};
    run.tables = {
        {"epochs",
         {{"steps", std::vector<std::int64_t>{3, 3}}, {"samples", std::vector<std::int64_t>{20, 20}}}}};
    return run;
}

TEST(Losses, CountStepsSamplesAndTheSlowestRanksTime) {
    const auto curve = loss_curve(losses_run());
    EXPECT_EQ(curve.title, "global batch 8, lr scaling sqrt (it's large)");
    EXPECT_EQ(curve.loss, (std::vector<double>{6, 5, 4, 3, 2, 1}));
    EXPECT_EQ(curve.samples, (std::vector<double>{8, 16, 20, 28, 36, 40}));
    EXPECT_EQ(curve.seconds, (std::vector<double>{2, 5, 6, 10, 11, 13}));
    EXPECT_EQ(curve.rate, (std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}));
}

TEST(Losses, HaveNoPointsWhereARunStoredNoLossesOrTimes) {
    auto other_loss = losses_run(), other_time = losses_run(), no_epochs = losses_run(), huge = losses_run(),
         no_rate = losses_run();
    other_loss.measurements[0].name = other_time.measurements[1].name = "other";
    no_epochs.tables.clear();
    huge.tables[0].columns[0].values = std::vector<std::int64_t>{3, std::int64_t{1} << 62};
    for (const auto& run : {other_loss, other_time, no_epochs, huge})
        EXPECT_TRUE(loss_curve(run).loss.empty());
    no_rate.measurements.pop_back();
    EXPECT_EQ(loss_curve(no_rate).loss.size(), 6U);
    EXPECT_TRUE(loss_curve(no_rate).rate.empty());
}

// Thousands of curves take gnuplot minutes, and nobody can tell one from another.
TEST(Losses, AreOfTheNewestOfManyRunsAndSaySo) {
    const tests::TempFolder folder;
    Runs runs(45, losses_run());
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].id = "run" + std::to_string(100 + i);
    const auto files = write_losses(runs, folder.path());
    EXPECT_EQ(files.size(), 12U);
    EXPECT_EQ(files.front().filename(), "run133.dat");
    EXPECT_THAT(text_of(files.front()), HasSubstr("\n3 20 6 4 0.3\n"));
    const auto figures = losses_of_runs(runs);
    ASSERT_EQ(figures.size(), 4U);
    EXPECT_EQ(figures[0].chart.series.size(), 12U);
    EXPECT_THAT(plain_text(figures[0].caption), HasSubstr("12 of 45 runs"));
    Outputs all;
    add_files(all, "losses", losses_of_runs({losses_run()}));
    all.expect("losses.txt");
}

std::string numbers_of(const NumberTable& table) {
    std::string text = fmt::format("{}\n", fmt::join(table.heads, " | "));
    for (const auto& row : table.rows) {
        for (const auto& cell : row) text += plain_text(cell) + " | ";
        text += '\n';
    }
    return text;
}

/// Every point with its interval, and the tables.
std::string numbers_of(const std::vector<Figure>& figures) {
    std::string text;
    for (const auto& [chart, caption, tables] : figures) {
        text += fmt::format("{}: {}\n{}\n", chart.name, chart.title, plain_text(caption));
        for (const auto& series : chart.series) {
            text += fmt::format("  {} (look {}):", series.title, static_cast<int>(series.look));
            for (const auto& point : series.points)
                text += fmt::format(" {:.6g}:{:.6g} [{:.6g} {:.6g}]", point.x, point.y, point.interval.low,
                                    point.interval.high);
            text += '\n';
        }
        for (const auto& table : tables) text += numbers_of(table);
    }
    return text;
}

// Points with intervals and fitted lines (dashed: no line but a fit); of alltoall the bus bandwidth is half.
TEST(Collectives, AreAsStored) {
    Outputs all;
    const auto collectives = [](const Runs& runs) {
        return made(runs, [](const Source& source) { return collective_figures(source, 3); });
    };
    const auto add = [&](const std::string& name, const Runs& runs) {
        for (const auto& one : collectives(runs)) {
            all.add(fmt::format("{}: {}", name, one.title), numbers_of(one.figures));
            for (const auto& table : one.tables) all.add("its table", numbers_of(table));
        }
    };
    add("two operations", {comm_run({{}, {.op = "alltoall", .in_place = false, .factor = 0.5}})});
    add("one rank: no bus bandwidth", {comm_run({{.ranks = 1}})});
    StoredRun model = comm_run();
    std::erase_if(model.tables, [](const auto& one) { return one.name == "messages" || one.name == "fits"; });
    model.tables.push_back(sample_buckets({2097152, 1048576}));
    add("buckets of a model", {model});
    all.expect("collectives.txt");
    std::vector<CommSample> samples;
    for (int i = 0; i < 17; ++i) samples.push_back({.op = "op" + std::to_string(i)});
    const auto many = collectives({comm_run(samples)});
    ASSERT_EQ(many[0].figures.size(), 6U);
    EXPECT_EQ(many[0].figures[4].chart.name, "collectives_time_3");
    EXPECT_THAT(plain_text(many[0].figures[0].caption), HasSubstr("2 more curves"));
}

// 8 MiB lies outside of what the first run of comm measured; the model's run has it.
TEST(Network, BucketsStandOnTheMeasuredCurveOfTheNewestRunThatReachesThem) {
    StoredRun training = step_run("train", 2, 0.1), model = comm_run({{}}, "model");
    training.config.push_back({"backend", "mpi"});
    training.tables = {sample_communication({{65536, 0.00005}, {8388608, 0.01}})};
    training.hosts = comm_run().hosts;
    model.started_utc = "2026-11-23T10:15:00Z";
    model.config.push_back({"from-model", "mnist-cnn"});
    model.tables.push_back(sample_buckets({65536, 8388608}));
    Outputs all;
    all.add("one bucket beyond", numbers_of(made({comm_run(), training}, network_figures)));
    all.add("the model's run", numbers_of(made({model, comm_run(), training}, network_figures)));
    all.expect("network.txt");
    EXPECT_TRUE(made({training}, network_figures).empty());
}

}  // namespace
}  // namespace ranklab::report::figures
