#include "report/figures/lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/figures/gnuplot.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::figures {
namespace {

namespace fs = std::filesystem;
using results::Measurement;
using results::Run;

constexpr const char* kLoss = "training loss";  // mean over the global batch
constexpr std::size_t kMostPoints = 20000;      // of a file: of longer curves it has every 2nd, 3rd, ... step
constexpr std::size_t kMostRuns = 12;  // of more nobody can tell one from another, nor does the key fit
constexpr std::size_t kMostGroups = 6;
constexpr std::size_t kMostEpochs = 20;

const std::vector<std::int64_t>* epochs_column(const Run& run, const std::string& name) {
    const results::Table* epochs = run.find_table("epochs");
    return epochs == nullptr ? nullptr : epochs->find<std::int64_t>(name);
}

// An epoch's steps share its samples; each has a whole global batch but the last, which has what is left.
std::vector<double> samples_after_steps(const Run& run, std::size_t steps) {
    const auto* of_epochs = epochs_column(run, "samples");
    const auto* lengths = epochs_column(run, "steps");
    const double batch = std::strtod(run.setting("global-batch-size").c_str(), nullptr);
    std::vector<double> samples;
    double before = 0;
    for (std::size_t e = 0; of_epochs != nullptr && lengths != nullptr && e < of_epochs->size(); ++e) {
        const auto whole = static_cast<double>((*of_epochs)[e]);
        // A file may claim any number of steps.
        for (std::int64_t step = 1; step <= (*lengths)[e] && samples.size() <= steps; ++step) {
            const double so_far = std::min(whole, static_cast<double>(step) * batch);
            samples.push_back(before + (step == (*lengths)[e] ? whole : so_far));
        }
        before += whole;
    }
    if (samples.size() != steps) samples.clear();
    return samples;
}

std::string title_of(const Run& run) {
    const auto batch = run.setting("global-batch-size");
    const auto scaling = run.setting("lr-scaling");
    std::string title = batch.empty() ? run.id : fmt::format("global batch {}", batch);
    if (!scaling.empty()) title += fmt::format(", lr scaling {}", scaling);
    if (!run.label.empty()) title += fmt::format(" ({})", run.label);
    return run.valid ? title : title + " INVALID";
}

std::string data_of(const LossCurve& curve) {
    std::string text = "# step samples seconds train_loss learning_rate\n";
    const std::size_t every = curve.loss.size() / kMostPoints + 1;
    for (std::size_t i = 0; i < curve.loss.size(); i += every)
        text += fmt::format("{} {} {} {} {}\n", i + 1, curve.samples[i], plot_value(curve.seconds[i]),
                            plot_value(curve.loss[i]),
                            plot_value(curve.rate.empty() ? stats::kNone : curve.rate[i]));
    return text;
}

// In the order stored; `left_out`: how many more have losses.
std::vector<const Run*> newest_with_losses(const std::vector<Run>& runs, std::size_t& left_out) {
    std::vector<const Run*> newest;
    for (const auto& run : runs) {
        const Measurement* m = run.find(vocabulary::kLoss);
        if (m != nullptr && m->rows() > 0) newest.push_back(&run);
    }
    left_out = newest.size() > kMostRuns ? newest.size() - kMostRuns : 0;
    newest.erase(newest.begin(), newest.begin() + static_cast<std::ptrdiff_t>(left_out));
    return newest;
}

std::vector<LossCurve> curves_of(const std::vector<const Run*>& runs) {
    std::vector<LossCurve> curves;
    for (const Run* run : runs)
        if (LossCurve curve = loss_curve(*run); !curve.loss.empty()) curves.push_back(std::move(curve));
    return curves;
}

struct Axis {
    const char* name;
    const char* label;
    std::vector<double> LossCurve::*values;
};
constexpr Axis kAxes[] = {{"loss_steps", "optimizer steps", &LossCurve::steps},
                          {"loss_samples", "samples", &LossCurve::samples},
                          {"loss_seconds", "time of the steps [s]", &LossCurve::seconds}};

Figure figure_of(const std::vector<LossCurve>& curves, const Axis& axis, const char* title, const char* label,
                 std::vector<double> LossCurve::*values) {
    Chart chart{.name = axis.name, .title = title, .x_label = axis.label, .y_label = label, .wide = true};
    for (std::size_t i = 0; i < curves.size(); ++i)
        if (!(curves[i].*values).empty())
            chart.series.push_back(
                {curves[i].title, Look::line, i, line_points(curves[i].*axis.values, curves[i].*values)});
    return {chart, {}};
}

// The last ones.
void add_epochs(std::vector<NumberTable>& tables, const Run& run) {
    const results::Table* table = run.find_table("epochs");
    if (table == nullptr || model::row_count(*table) == 0) return;
    NumberTable shown{{fmt::format("Epochs of run {}:", run.id)}};
    for (const auto& column : table->columns) shown.heads.push_back(cut(column.name, 40));
    const std::size_t rows = model::row_count(*table);
    for (std::size_t i = rows > kMostEpochs ? rows - kMostEpochs : 0; i < rows; ++i) {
        shown.rows.emplace_back();
        for (const auto& column : table->columns)
            shown.rows.back().push_back(cell_of(run, *table, column.name, i));
    }
    tables.push_back(std::move(shown));
}

}  // namespace

LossCurve loss_curve(const Run& run) {
    LossCurve curve{
        title_of(run), {}, {}, {}, rows_of(run, vocabulary::kLoss), rows_of(run, vocabulary::kLearningRate)};
    curve.seconds = rows_of(run, vocabulary::kStepTime);
    const std::size_t steps = curve.loss.size();
    curve.samples = samples_after_steps(run, steps);
    for (std::size_t i = 1; i < curve.seconds.size(); ++i) curve.seconds[i] += curve.seconds[i - 1];
    if (curve.rate.size() != steps) curve.rate.clear();
    if (curve.seconds.size() != steps || curve.samples.size() != steps)
        return {curve.title, {}, {}, {}, {}, {}};
    curve.steps = numbers_to(steps);
    return curve;
}

std::vector<Figure> loss_figures(const Source& source) {
    const auto groups = newest_trained(source, kMostGroups, vocabulary::kLoss);
    const auto titles = model::group_titles(groups);
    std::vector<LossCurve> curves;
    std::vector<NumberTable> tables;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const Run run = source.load(groups[i]->newest.id);
        curves.push_back(loss_curve(run));
        curves.back().title = model::counted(groups[i]->ranks, "rank") + ": " + titles[i];
        if (!curves.back().loss.empty()) add_epochs(tables, run);
    }
    const Axis steps{"losses", kAxes[0].label, kAxes[0].values};
    Figure figure =
        figure_of(curves, steps, "Training loss", "loss, mean over the global batch", &LossCurve::loss);
    if (figure.chart.series.empty()) return {};
    figure.caption = {definition(vocabulary::kLoss),     " before each update, warm-up steps included; ",
                      definition(vocabulary::kTestLoss), " and ",
                      definition(vocabulary::kAccuracy), " are in the table of the epochs."};
    figure.tables = std::move(tables);
    return {figure};
}

std::vector<Figure> losses_of_runs(const std::vector<Run>& runs) {
    std::size_t left_out = 0;
    const auto curves = curves_of(newest_with_losses(runs, left_out));
    std::vector<Figure> figures;
    for (const auto& axis : kAxes)
        figures.push_back(figure_of(curves, axis, "Training loss", kLoss, &LossCurve::loss));
    const Axis steps{"learning_rate", kAxes[0].label, kAxes[0].values};
    figures.push_back(figure_of(curves, steps, "Learning rate", "learning rate", &LossCurve::rate));
    for (auto& figure : figures)
        if (left_out > 0)
            figure.caption = {
                fmt::format("The newest {} of {} runs.", curves.size(), curves.size() + left_out)};
    return figures;
}

std::vector<fs::path> write_losses(const std::vector<Run>& runs, const fs::path& folder) {
    std::vector<fs::path> files;
    std::size_t left_out = 0;
    for (const Run* run : newest_with_losses(runs, left_out)) {
        const LossCurve curve = loss_curve(*run);
        if (curve.loss.empty()) continue;
        files.push_back(folder / (run->id + ".dat"));
        write_plot_file(files.back(), data_of(curve));
    }
    return files;
}

}  // namespace ranklab::report::figures
