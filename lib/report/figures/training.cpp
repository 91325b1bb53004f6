// The sections on a training run: phases, steps, losses, and its inside: lines of the loop, layers,
// operators, CPUs and GPUs over time.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/numbers.hpp"
#include "report/figures/figure.hpp"
#include "report/model/values.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::figures {
namespace {

using model::Groups;
using model::StoredRow;
using results::Measurement;
using results::Run;
using results::Table;

constexpr std::size_t kMostBars = 16, kMostStepped = 2, kMostLosses = 5, kMostRuns = 9;
constexpr std::size_t kMostPoints = 1200;  // of a line: a picture has fewer pixels
constexpr std::size_t kMostEpochs = 20, kMostEpochTables = 3;

// The slowest rank's value of each step, warm-up included.
std::vector<double> by_step(const Run& run, std::string_view name) {
    const Measurement* m = run.find(name);
    if (m == nullptr || m->columns == 0) return {};
    auto rows = m->largest_of(m->warmup);
    const auto counted = m->largest_of_rows();
    rows.insert(rows.end(), counted.begin(), counted.end());
    return rows;
}

// A step of the runs of a group: medians over the runs, and their least and largest loss.
struct Step {
    double number = 0, samples = 0, seconds = 0;  // since the run's first step
    Point loss = {.y = stats::kNone}, rate = {.y = stats::kNone};
};

// The steps that all runs made.
std::vector<Step> steps_of(const std::vector<Run>& runs) {
    std::vector<std::vector<double>> losses, seconds;
    std::size_t length = SIZE_MAX;
    for (const Run& run : runs) {
        losses.push_back(by_step(run, vocabulary::kLoss));
        seconds.push_back(by_step(run, vocabulary::kStepTime));
        length = std::min({length, losses.back().size(), seconds.back().size()});
    }
    const auto rates = by_step(runs.back(), vocabulary::kLearningRate);
    const double batch =
        base::number_in(runs.back().setting(setting::kGlobalBatchSize)).value_or(stats::kNone);
    std::vector<Step> steps;
    double time = 0;
    for (std::size_t i = 0; i < length; ++i) {
        std::vector<double> values, times;
        for (std::size_t run = 0; run < runs.size(); ++run)
            values.push_back(losses[run][i]), times.push_back(seconds[run][i]);
        const auto [least, most] = std::ranges::minmax(values);
        const double number = base::real(i + 1);
        time += stats::quantile(times, 0.5);
        steps.push_back({number, number * batch, time, {.y = stats::quantile(values, 0.5)}, {}});
        if (runs.size() > 1) steps.back().loss.interval = {least, most};
        steps.back().rate.y = i < rates.size() ? rates[i] : stats::kNone;
    }
    return steps;
}

struct Axis {
    const char *name, *x_label, *y_label;
    double Step::*x;
    Point Step::*y;
};
constexpr Axis kAxes[] = {
    {"loss_steps", "optimizer steps", "loss", &Step::number, &Step::loss},
    {"loss_samples", "steps x global batch", "loss", &Step::samples, &Step::loss},
    {"loss_seconds", "time of the steps [s]", "loss", &Step::seconds, &Step::loss},
    {"learning_rate", "optimizer steps", "learning rate", &Step::number, &Step::rate}};

// The validation loss after each epoch of a run, at the epoch's last step.
std::vector<Point> validation_of(const Run& run, const std::vector<Step>& steps, double Step::*x) {
    std::vector<Point> points;
    double done = 0;
    for (const auto& epoch : model::rows_of(run, "epochs")) {
        done += epoch.number("steps");
        if (done >= 1 && done <= base::real(steps.size()))
            points.push_back(
                {steps[static_cast<std::size_t>(done) - 1].*x, epoch.number("validation_loss")});
    }
    return points;
}

constexpr std::size_t kMostRows = 24, kMostLines = 8;

// Keeps only the least and the largest point of each piece of a long line, so that peaks stay.
std::vector<Point> thinned(const std::vector<Point>& line) {
    std::vector<Point> points;
    const std::size_t piece = std::max<std::size_t>(1, 2 * line.size() / kMostPoints);
    for (std::size_t begin = 0; begin < line.size(); begin += piece) {
        const auto [low, high] = std::minmax_element(
            line.begin() + static_cast<std::ptrdiff_t>(begin),
            line.begin() + static_cast<std::ptrdiff_t>(std::min(line.size(), begin + piece)),
            [](const Point& a, const Point& b) { return a.y < b.y; });
        for (const auto one : {std::min(low, high), std::max(low, high)})
            if (points.empty() || points.back().x != one->x) points.push_back(*one);
    }
    return points;
}

double mean_of(const Series& series) {
    const double sum = std::accumulate(series.points.begin(), series.points.end(), 0.0,
                                       [](double all, const Point& one) { return all + one.y; });
    return sum / base::real(series.points.size());
}

// Adds a line per name over time; rows without a name are left out. Keeps the kMostLines lines with
// the lowest means, which idle most, and says so in the caption.
void add_lines(Figure& figure, const Table& table, const char* column, const std::string& what,
               const auto& name_of) {
    InsertionOrderedMap<std::string, Series> met;
    for (const auto& row : model::rows_of(table)) {
        const std::string name = name_of(row);
        const Point point{row.number("time_s"), row.number(column)};
        if (name.empty() || !is_drawn(point.x) || !is_drawn(point.y)) continue;
        met[name].title = name;
        met[name].points.push_back(point);
    }
    auto& lines = met.all();
    if (lines.size() > kMostLines) {
        figure.caption += fmt::format(" Shown are the {} of {} {} with the lowest means.",
                                      kMostLines, lines.size(), what);
        std::ranges::stable_sort(lines, {}, mean_of);
        lines.resize(kMostLines);
    }
    for (const auto& line : lines)
        figure.series.push_back(
            {line.title, Look::line, figure.series.size(), thinned(line.points)});
}

// A table that is shown, or of which a column is drawn over time.
struct Part {
    const char *table, *title, *column = nullptr, *quantity = "", *unit = "", *figure = "";
    const char* note = "";
};
constexpr Part kParts[] = {
    {"lines", "Lines"},
    {"layers", "Layers"},
    {"operators", "Operators"},
    {"monitor", "CPU time of ranks and hosts", "cpu_percent", "CPU time", "%", "monitor",
     " 100 % is one CPU for a rank, and all CPUs for a host."},
    {"gpu_monitor", "Power of the GPUs", "power_W", "power", "W", "gpu_power"}};

Figure over_time(const Part& part, const Run& run, const Table& table) {
    Figure figure{.name = part.figure,
                  .title = part.title,
                  .x_label = "time since the work began [s]",
                  .y_label = part.quantity,
                  .unit = part.unit,
                  .caption = fmt::format("Run {}.{}", run.id, part.note)};
    for (const std::string what : {"ranks", "hosts", "GPUs"})
        add_lines(figure, table, part.column, what, [&](const StoredRow& row) -> std::string {
            const std::string gpu = row.text("gpu"), rank = row.text("rank"),
                              host = row.text("host");
            if (what != (!gpu.empty() ? "GPUs" : rank == "-1" ? "hosts" : "ranks")) return "";
            return what == "GPUs"    ? gpu + " of " + host
                   : what == "hosts" ? "host " + host
                                     : fmt::format("rank {} on {}", rank, host);
        });
    return figure;
}

}  // namespace

Section phases_section(const Source& source) {
    Figure figure{.name = "phases",
                  .title = "Phases of a training step",
                  .x_label = "mean time in a step",
                  .unit = "s",
                  .caption =
                      "Means over ranks and counted steps of each group's newest run; with "
                      "`other` they add up to the step."};
    InsertionOrderedMap<std::string, Series> phases;
    auto groups = newest_groups(source.groups, "train", kMostBars);
    std::ranges::sort(groups);  // by the values of the keys
    for (const std::size_t group : groups) {
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
    figure.series = phases.all();
    for (std::size_t i = 0; i < figure.series.size(); ++i) figure.series[i].colour = i;
    return {"phases", "Where a step's time goes", {std::move(figure)}};
}

Section steps_section(const Source& source) {
    Section section{"steps", "Step by step"};
    const auto groups = newest_groups(source.groups, "train", kMostStepped);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const Run run = source.newest_whole(groups[i]);
        const Measurement* m = run.find(vocabulary::kStepTime);
        if (m == nullptr || m->rows() == 0) continue;
        std::vector<Point> points;
        for (const double time : by_step(run, vocabulary::kStepTime))
            points.push_back({base::real(points.size() + 1), time});
        const std::size_t warm_up = points.size() - m->rows();
        section.figures.push_back(
            {.name = fmt::format("steps_{}", i + 1),
             .title = source.groups.name(groups[i]),
             .x_label = "step, warm-up included",
             .y_label = "step time",
             .unit = "s",
             .series = {{"step time, slowest rank", Look::line, 0, thinned(points)}},
             .shaded_to = warm_up > 0 ? base::real(warm_up) + 0.5 : stats::kNone,
             .caption = fmt::format("Run {}: {} warm-up steps are shaded.", run.id, warm_up)});
    }
    return section;
}

Section losses_section(const Source& source) {
    Section section{"losses", "Losses"};
    for (const auto& axis : kAxes)
        section.figures.push_back(
            {.name = axis.name,
             .title = fmt::format("{} over {}", axis.y_label, axis.x_label),
             .x_label = axis.x_label,
             .y_label = axis.y_label,
             .caption =
                 axis.y == &Step::loss
                     ? "Mean over the global batch before each update, warm-up included; medians "
                       "of a group's runs, and their range; points: validation."
                     : ""});
    const Groups& all = source.groups;
    const auto groups = newest_groups(all, "train", kMostLosses);
    const auto titles = all.titles(groups);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        std::vector<Run> runs;
        for (const std::size_t member : all.members(groups[i]))
            if (runs.size() < kMostRuns)
                runs.push_back(source.file.read(all.runs().at(member, "id").text));
        const auto steps = steps_of(runs);
        const auto& ranks = all.factor(groups[i], setting::kRanks);
        const std::string name =
            fmt::format("{}, {} rank{}, global batch {}", titles[i], ranks, ranks == "1" ? "" : "s",
                        all.factor(groups[i], setting::kGlobalBatchSize));
        for (std::size_t k = 0; k < std::size(kAxes); ++k) {
            Series line{name, Look::line, i, {}},
                validation{name + ", validation", Look::points, i, {}};
            for (const Step& step : steps) {
                line.points.push_back(step.*kAxes[k].y);
                line.points.back().x = step.*kAxes[k].x;
            }
            line.points = thinned(line.points);
            if (kAxes[k].y == &Step::loss)
                validation.points = validation_of(runs.back(), steps, kAxes[k].x);
            for (auto* series : {&line, &validation})
                if (!series->empty()) section.figures[k].series.push_back(std::move(*series));
        }
        const auto* epochs = runs.back().find_table("epochs");
        if (epochs == nullptr || steps.empty() || section.tables.size() == kMostEpochTables)
            continue;
        section.tables.push_back(model::frame_of(*epochs, kMostEpochs));
        section.tables.back().title = "Epochs of run " + runs.back().id;
    }
    return section;
}

Section inside_section(const Source& source) {
    Section section{"inside", "Inside"};
    const Frame& runs = source.groups.runs();
    for (const auto& part : kParts) {
        const std::size_t column = runs.find(part.table, Role::table);
        std::size_t row = runs.rows.size();
        while (row > 0 &&
               (runs.rows[row - 1].has(CaveatKind::invalid) || runs.at(row - 1, column).empty()))
            --row;
        if (row == 0) continue;
        const Run run = source.file.read(runs.at(row - 1, "id").text, results::Detail::summaries);
        const Table& table = *run.find_table(part.table);
        if (part.column != nullptr) {
            section.figures.push_back(over_time(part, run, table));
            continue;
        }
        section.tables.push_back(model::frame_of(table, kMostRows));
        section.tables.back().title = fmt::format("{} of run {}", part.title, run.id);
    }
    return section;
}

}  // namespace ranklab::report::figures
