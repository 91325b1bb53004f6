#include "report/figures/lines.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "report/figures/figure.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::report::figures {
namespace {

using results::Measurement;

Measurement measurement(const std::string& name, std::size_t columns, std::vector<double> warmup,
                        std::vector<double> samples) {
    Measurement m;
    m.name = name;
    m.columns = columns;
    m.warmup = std::move(warmup);
    m.samples = std::move(samples);
    return m;
}

// Two epochs of three steps on 20 samples: global batches of 8, 8 and 4; the first step is warm-up; two
// ranks.
results::Run sample_run() {
    results::Run run;
    run.id = "20260101T000000Z-000001";
    run.label = "it's large";
    run.config = {{"global-batch-size", "8", true}, {"lr-scaling", "sqrt"}};
    run.measurements = {measurement("train_loss", 1, {6}, {5, 4, 3, 2, 1}),
                        measurement("step_time_s", 2, {1, 2}, {3, 1, 1, 1, 1, 4, 1, 1, 2, 1}),
                        measurement("learning_rate", 1, {0.1}, {0.2, 0.3, 0.4, 0.5, 0.6})};
    run.tables = {
        {"epochs",
         {{"steps", std::vector<std::int64_t>{3, 3}}, {"samples", std::vector<std::int64_t>{20, 20}}}}};
    return run;
}

TEST(LossCurve, CountsStepsSamplesAndTheSlowestRanksTime) {
    const auto curve = loss_curve(sample_run());
    EXPECT_EQ(curve.title, "global batch 8, lr scaling sqrt (it's large)");
    EXPECT_EQ(curve.loss, (std::vector<double>{6, 5, 4, 3, 2, 1}));
    EXPECT_EQ(curve.samples, (std::vector<double>{8, 16, 20, 28, 36, 40}));
    EXPECT_EQ(curve.seconds, (std::vector<double>{2, 5, 6, 10, 11, 13}));
    EXPECT_EQ(curve.rate, (std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}));
}

TEST(LossCurve, HasNoPointsWhereARunStoredNoLossesOrTimes) {
    auto run = sample_run();
    run.measurements[0].name = "other";
    EXPECT_TRUE(loss_curve(run).loss.empty());
    run = sample_run();
    run.measurements[1].name = "other";
    EXPECT_TRUE(loss_curve(run).loss.empty());
    run = sample_run();
    run.tables.clear();
    EXPECT_TRUE(loss_curve(run).loss.empty());
    run = sample_run();  // a file may claim more steps than any memory holds
    run.tables[0].columns[0].values = std::vector<std::int64_t>{3, std::int64_t{1} << 62};
    EXPECT_TRUE(loss_curve(run).loss.empty());
    run = sample_run();
    run.measurements.pop_back();
    EXPECT_EQ(loss_curve(run).loss.size(), 6U);
    EXPECT_TRUE(loss_curve(run).rate.empty());
}

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

TEST(PlotLosses, WritesDataAndScriptWhetherGnuplotIsThereOrNot) {
    const tests::TempFolder folder;
    try {
        plot({results::Run{}, sample_run()}, folder.path() / "plots");
    } catch (const base::EnvironmentError& error) {
        EXPECT_NE(std::string(error.what()).find("gnuplot"), std::string::npos);
    }
    const auto data = text_of(folder.path() / "plots" / "20260101T000000Z-000001.dat");
    EXPECT_NE(data.find("\n3 20 6 4 0.3\n"), std::string::npos) << data;
    const auto script = text_of(folder.path() / "plots" / "plot_loss_samples.gp");
    EXPECT_NE(script.find("(it''s large)'"), std::string::npos) << script;
    EXPECT_NE(text_of(folder.path() / "plots" / "loss_samples.dat").find("\n20 4 NaN NaN\n"),
              std::string::npos);
    EXPECT_NE(text_of(folder.path() / "plots" / "plot_learning_rate.gp").find("'learning_rate.'.ending"),
              std::string::npos);
}

// Thousands of curves take gnuplot minutes, and nobody can tell one from another.
TEST(Losses, AreOfTheNewestOfManyRunsAndSaySo) {
    const tests::TempFolder folder;
    std::vector<results::Run> runs(45, sample_run());
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].id = "run" + std::to_string(100 + i);
    const auto files = write_losses(runs, folder.path());
    EXPECT_EQ(files.size(), 12U);
    EXPECT_EQ(files.front().filename(), "run133.dat");
    const auto figures = losses_of_runs(runs);
    ASSERT_EQ(figures.size(), 4U);
    EXPECT_EQ(figures[0].chart.series.size(), 12U);
    EXPECT_NE(plain_text(figures[0].caption).find("The newest 12 of 45 runs"), std::string::npos);
    runs.resize(12);
    EXPECT_TRUE(losses_of_runs(runs)[0].caption.empty());
}

TEST(PlotLosses, RefusesWhatCannotBeDrawnOrWritten) {
    const tests::TempFolder folder;
    EXPECT_THROW(plot({results::Run{}}, folder.path()), base::OptionError);
    std::ofstream(folder.path() / "file") << "x";
    const auto sentence =
        tests::thrown_sentence<base::OptionError>([&] { plot({sample_run()}, folder.path() / "file"); });
    EXPECT_NE(sentence.find("file: it cannot be written there"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("Not a directory) (--plots)"), std::string::npos) << sentence;
}

}  // namespace
}  // namespace ranklab::report::figures
