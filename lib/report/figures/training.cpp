// The sections on phases, gradient buckets, steps and losses of training.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/numbers.hpp"
#include "report/figures/figure.hpp"
#include "report/frame/readable.hpp"
#include "report/model/network.hpp"
#include "report/model/values.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::figures {
namespace {

using results::Measurement;
using results::Run;

constexpr std::size_t kMostBars = 16, kMostStepped = 2, kMostLosses = 6, kMostTrainings = 3;
constexpr std::size_t kMostPoints = 1200;  // of a line: a picture has fewer pixels
constexpr std::size_t kMostEpochs = 20;

// The slowest rank's value of each step, warm-up included.
std::vector<double> rows_of(const Run& run, std::string_view name) {
    const Measurement* m = run.find(name);
    if (m == nullptr || m->columns == 0) return {};
    auto rows = m->largest_of(m->warmup);
    const auto counted = m->largest_of_rows();
    rows.insert(rows.end(), counted.begin(), counted.end());
    return rows;
}

std::vector<double> numbers_to(std::size_t last) {
    std::vector<double> numbers(last);
    std::iota(numbers.begin(), numbers.end(), 1.0);
    return numbers;
}

Figure steps_of(const Run& run, const std::string& title, std::size_t number) {
    const std::vector<double> all = rows_of(run, vocabulary::kStepTime);
    const std::size_t warm_up = all.size() - run.find(vocabulary::kStepTime)->rows();
    Figure figure{.name = fmt::format("steps_{}", number),
                  .title = title,
                  .x_label = "step, warm-up included",
                  .y_label = "step time [s]",
                  .unit = "s"};
    if (warm_up > 0) figure.shaded_to = static_cast<double>(warm_up) + 0.5;
    figure.series.push_back(
        {"step time, slowest rank", Look::line, 0, line_points(numbers_to(all.size()), all)});
    figure.caption = fmt::format("Run {}: {} warm-up steps are shaded.", run.id, warm_up);
    return figure;
}

// A value per step, warm-up included; empty if the run has no losses.
struct LossCurve {
    std::vector<double> steps = {}, samples = {}, seconds = {}, loss = {}, rate = {};
};

LossCurve loss_curve(const Run& run) {
    LossCurve curve{.seconds = rows_of(run, vocabulary::kStepTime),
                    .loss = rows_of(run, vocabulary::kLoss),
                    .rate = rows_of(run, vocabulary::kLearningRate)};
    const std::size_t steps = curve.loss.size();
    if (curve.seconds.size() != steps) return {};
    if (curve.rate.size() != steps) curve.rate.clear();
    std::partial_sum(curve.seconds.begin(), curve.seconds.end(), curve.seconds.begin());
    curve.steps = numbers_to(steps);
    const double batch =
        base::number_in(run.setting(setting::kGlobalBatchSize)).value_or(stats::kNone);
    for (const double step : curve.steps) curve.samples.push_back(step * batch);
    return curve;
}

struct Axis {
    const char *name, *x_label, *y_label;
    std::vector<double> LossCurve::*x, LossCurve::*y;
};
constexpr Axis kAxes[] = {
    {"loss_steps", "optimizer steps", "training loss", &LossCurve::steps, &LossCurve::loss},
    {"loss_samples", "steps x global batch", "training loss", &LossCurve::samples,
     &LossCurve::loss},
    {"loss_seconds", "time of the steps [s]", "training loss", &LossCurve::seconds,
     &LossCurve::loss},
    {"learning_rate", "optimizer steps", "learning rate", &LossCurve::steps, &LossCurve::rate}};

}  // namespace

std::vector<Point> line_points(const std::vector<double>& x, const std::vector<double>& y) {
    std::vector<Point> points;
    const std::size_t piece = std::max<std::size_t>(1, 2 * y.size() / kMostPoints);
    for (std::size_t begin = 0; begin < y.size(); begin += piece) {
        const auto first = y.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last =
            y.begin() + static_cast<std::ptrdiff_t>(std::min(y.size(), begin + piece));
        const auto [low, high] = std::minmax_element(first, last);
        for (const auto one : {std::min(low, high), std::max(low, high)}) {
            const auto i = static_cast<std::size_t>(one - y.begin());
            if (points.empty() || points.back().x != x[i]) points.push_back({x[i], y[i]});
        }
    }
    return points;
}

Section phases_section(const Source& source) {
    Section section{"phases", "Where a step's time goes", {}, {}};
    Figure figure{.name = "phases",
                  .title = "Phases of a training step",
                  .x_label = "mean time in a step [s]",
                  .unit = "s"};
    InsertionOrderedMap<std::string, Series> phases;
    for (const std::size_t group : newest_groups(source.groups, "train", kMostBars)) {
        const Run run = source.newest(group);
        const auto parts = model::step_parts(run);
        for (const auto& part : parts) {
            Series& series = phases[part.text("phase")];
            series.title = part.text("phase");
            series.points.push_back(
                {base::real(figure.categories.size()), part.number("per_hit_s")});
        }
        if (!parts.empty()) figure.categories.push_back(source.groups.name(group));
    }
    if (!figure.bars()) return section;
    figure.series = phases.all();
    for (std::size_t i = 0; i < figure.series.size(); ++i) figure.series[i].colour = i;
    figure.caption =
        "Means over ranks and counted steps of each group's newest run; with `other` they add up "
        "to the step.";
    section.figures.push_back(std::move(figure));
    return section;
}

Section buckets_section(const Source& source) {
    Section section{"messages", "Gradient buckets", {}, {}};
    Figure figure{.name = "messages",
                  .title = "Reductions of gradient buckets",
                  .x_label = "size of the bucket",
                  .y_label = "transfer",
                  .unit = "s",
                  .log_x = true,
                  .log_y = true,
                  .x_bytes = true,
                  .caption =
                      "Transfer of a bucket in the step, once all ranks had come: medians over the "
                      "counted steps."};
    std::size_t trainings = 0;
    for (const std::size_t group : newest_groups(source.groups, "train", kMostBars)) {
        const Run run = source.newest(group);
        if (trainings == kMostTrainings || !model::has_bucket_times(run)) continue;
        const auto cost = model::network_cost(source.file, run);
        const std::string name = source.groups.name(group);
        Series step{name, Look::points, trainings, {}},
            network{name + ": network alone", Look::marks, trainings++, {}};
        for (const auto& row : model::rows_of(run, "communication"))
            step.points.push_back(
                {row.number("bytes"), row.number(std::string(vocabulary::kTransferTime)), {}});
        figure.series.push_back(std::move(step));
        if (!cost) continue;
        for (const auto& [bytes, time] : cost->curve)
            network.points.push_back({bytes, time.s, time.range});
        figure.series.push_back(std::move(network));
    }
    if (!figure.empty()) section.figures.push_back(std::move(figure));
    return section;
}

Section steps_section(const Source& source) {
    Section section{"steps", "Step by step", {}, {}};
    const auto groups = newest_groups(source.groups, "train", kMostStepped);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const Run run = source.newest_whole(groups[i]);
        const Measurement* m = run.find(vocabulary::kStepTime);
        if (m != nullptr && m->rows() > 0)
            section.figures.push_back(steps_of(run, source.groups.name(groups[i]), i + 1));
    }
    return section;
}

Section losses_section(const Source& source) {
    Section section{"losses", "Losses", {}, {}};
    const auto groups = newest_groups(source.groups, "train", kMostLosses);
    std::vector<LossCurve> curves;
    for (const std::size_t group : groups) {
        const Run run = source.newest_whole(group);
        curves.push_back(loss_curve(run));
        if (const auto* epochs = run.find_table("epochs");
            epochs != nullptr && !curves.back().loss.empty() && section.tables.size() < 3) {
            section.tables.push_back(model::frame_of(*epochs, kMostEpochs));
            section.tables.back().title = "Epochs of run " + run.id;
        }
    }
    for (const auto& axis : kAxes) {
        Figure figure{
            .name = axis.name,
            .title = fmt::format("{} over {}", axis.y_label, axis.x_label),
            .x_label = axis.x_label,
            .y_label = axis.y_label,
            .caption = "Mean over the global batch before each update, warm-up included."};
        for (std::size_t i = 0; i < curves.size(); ++i)
            if (!(curves[i].*axis.y).empty())
                figure.series.push_back({source.groups.name(groups[i]), Look::line, i,
                                         line_points(curves[i].*axis.x, curves[i].*axis.y)});
        if (!figure.empty()) section.figures.push_back(std::move(figure));
    }
    if (section.figures.empty()) section.tables.clear();
    return section;
}

}  // namespace ranklab::report::figures
