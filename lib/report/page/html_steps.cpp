#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/figures/plot_losses.hpp"
#include "report/model/values.hpp"
#include "report/page/html_sections.hpp"
#include "report/page/html_text.hpp"
#include "stats/series.hpp"

namespace ranklab::report::page {
namespace {

using results::Measurement;
using results::Run;

constexpr std::size_t kMostRuns = 2;       // step by step
constexpr std::size_t kMostCurves = 6;     // losses
constexpr std::size_t kMostPoints = 1200;  // of a line: more than a page has pixels
constexpr std::size_t kMostListed = 30;    // outliers in a table

// The slowest rank of each row.
std::vector<double> slowest(const Measurement& m, const std::vector<double>& values) {
    std::vector<double> rows;
    for (std::size_t i = 0; m.columns > 0 && i + m.columns <= values.size(); i += m.columns) {
        const auto row = values.begin() + static_cast<std::ptrdiff_t>(i);
        rows.push_back(*std::max_element(row, row + static_cast<std::ptrdiff_t>(m.columns)));
    }
    return rows;
}

// Of long lines the least and the largest of each piece, so that no peak is lost.
std::vector<figures::ChartPoint> line_points(const std::vector<double>& y) {
    std::vector<figures::ChartPoint> points;
    const auto at = [&](std::size_t i) { return figures::ChartPoint{static_cast<double>(i + 1), y[i]}; };
    const std::size_t piece = std::max<std::size_t>(1, 2 * y.size() / kMostPoints);
    for (std::size_t begin = 0; begin < y.size(); begin += piece) {
        const auto first = y.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last = y.begin() + static_cast<std::ptrdiff_t>(std::min(y.size(), begin + piece));
        const auto [low, high] = std::minmax_element(first, last);
        points.push_back(at(static_cast<std::size_t>(std::min(low, high) - y.begin())));
        if (low != high) points.push_back(at(static_cast<std::size_t>(std::max(low, high) - y.begin())));
    }
    return points;
}

std::string sample_html(double value, std::size_t step, const Run& run) {
    return derived_html(
        value, fmt::format("largest over ranks of samples/step_time_s[{}, :], run {}", step, run.id));
}

// Samples beyond the fences, with the steps they are of.
std::vector<std::size_t> outlying(const std::vector<double>& samples, const stats::Outliers& found) {
    std::vector<std::size_t> steps;
    for (std::size_t i = 0; i < samples.size(); ++i)
        if (samples[i] < found.low_fence || samples[i] > found.high_fence) steps.push_back(i);
    return steps;
}

std::string row(const std::string& name, const std::string& value) {
    return fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", name, value);
}

std::string steps_table(const Run& run, const Measurement& m, const std::vector<double>& samples,
                        const std::vector<std::size_t>& outliers) {
    std::string rows;
    for (const char* const field : {"n", "median", "min", "max", "p95", "p99"})
        rows += row(field, number_html(run, m, field));
    rows += row("outliers", fmt::format("{} of {}", outliers.size(), samples.size()));
    for (std::size_t i = 0; i < std::min(outliers.size(), kMostListed); ++i)
        rows += row(fmt::format("outlier: step {}", outliers[i] + 1),
                    sample_html(samples[outliers[i]], outliers[i], run));
    if (outliers.size() > kMostListed)
        rows += row("…", fmt::format("and {} more", outliers.size() - kMostListed));
    return "<table><tbody>" + rows + "</tbody></table>";
}

std::string settling(const std::vector<double>& samples) {
    if (samples.size() < stats::kFewestForWarmup)
        return fmt::format("They are too few (below {}) to tell by MSER-5 whether the run had settled.",
                           stats::kFewestForWarmup);
    const std::size_t settled = stats::warmup_end(samples);
    return settled == 0 ? "The counted steps show no further beginning unlike the rest (MSER-5)."
                        : fmt::format(
                              "<strong>By MSER-5 the run had settled only after {} of its counted "
                              "steps</strong>: a longer --warmup may be wise.",
                              settled);
}

Figure steps_of(const Run& run, const std::string& title, std::size_t number) {
    const Measurement& m = *run.find("step_time_s");
    const auto samples = m.largest_of_rows();
    std::vector<double> all = slowest(m, m.warmup);
    const std::size_t warm_up = all.size();
    all.insert(all.end(), samples.begin(), samples.end());
    figures::Chart chart;
    chart.name = fmt::format("steps_{}", number);
    chart.title = title;
    chart.wide = true;
    chart.x_label = "step, warm-up included";
    chart.y_label = "step time [s]";
    if (warm_up > 0) chart.shaded_to = static_cast<double>(warm_up) + 0.5;
    chart.series.push_back({"step time, slowest rank", figures::Look::line, 0, line_points(all)});
    const auto outliers = outlying(samples, stats::outliers(samples));
    figures::ChartSeries marks{"outlier", figures::Look::marks, 1, {}};
    for (std::size_t i = 0; i < std::min(outliers.size(), kMostPoints); ++i)
        marks.points.push_back({static_cast<double>(warm_up + outliers[i] + 1), samples[outliers[i]]});
    if (!marks.points.empty()) chart.series.push_back(std::move(marks));
    return {
        chart,
        fmt::format(
            "Run {}: {} per step, the slowest rank's. Shaded: {} warm-up steps, which no number counts. {} "
            "Outliers (beyond three interquartile ranges from the quartiles): {}, all counted.",
            escape(run.id), definition_link("step_time_s"), warm_up, settling(samples), outliers.size()),
        steps_table(run, m, samples, outliers)};
}

std::string epochs_table(const Run& run) {
    const results::Table* table = run.find_table("epochs");
    if (table == nullptr || model::row_count(*table) == 0) return "";
    std::string head, rows;
    for (const auto& column : table->columns)
        head += fmt::format("<th>{}</th>", column.name == "epoch" ? "epoch" : escape(column.name, 40));
    const std::size_t first = model::row_count(*table) > 20 ? model::row_count(*table) - 20 : 0;
    for (std::size_t i = first; i < model::row_count(*table); ++i) {
        rows += "<tr>";
        for (const auto& column : table->columns)
            rows += "<td>" + cell_html(run, *table, column.name, i) + "</td>";
        rows += "</tr>\n";
    }
    return fmt::format("<p>Epochs of run {}:</p><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>\n",
                       escape(run.id), head, rows);
}

// The newest groups first.
std::vector<const model::Group*> newest_trained(const PageInput& input, std::size_t most,
                                                const char* measurement) {
    std::vector<const model::Group*> groups;
    for (const model::Group* group : recent_groups(input.campaign, "train", 2 * most))
        if (group->valid > 0 && group->newest.find(measurement) != nullptr) groups.push_back(group);
    std::stable_sort(groups.begin(), groups.end(),
                     [](const model::Group* a, const model::Group* b) { return a->last_utc > b->last_utc; });
    if (groups.size() > most) groups.resize(most);
    return groups;
}

}  // namespace

std::vector<Figure> step_figures(const PageInput& input) {
    std::vector<Figure> figures;
    const auto groups = newest_trained(input, kMostRuns, "step_time_s");
    const auto titles = model::group_titles(groups);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const Run run = input.load(groups[i]->newest.id);
        const Measurement* m = run.find("step_time_s");
        if (m != nullptr && m->rows() > 0)
            figures.push_back(steps_of(
                run,
                fmt::format("{} on {} rank{}", titles[i], groups[i]->ranks, groups[i]->ranks == 1 ? "" : "s"),
                i + 1));
    }
    return figures;
}

std::vector<Figure> loss_figures(const PageInput& input) {
    const auto groups = newest_trained(input, kMostCurves, "train_loss");
    const auto titles = model::group_titles(groups);
    figures::Chart chart;
    chart.name = "losses";
    chart.title = "Training loss";
    chart.wide = true;
    chart.x_label = "optimizer steps";
    chart.y_label = "loss, mean over the global batch";
    std::string tables;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const Run run = input.load(groups[i]->newest.id);
        const figures::LossCurve curve = figures::loss_curve(run);
        if (curve.loss.empty()) continue;
        chart.series.push_back(
            {fmt::format("{} rank{}: {}", groups[i]->ranks, groups[i]->ranks == 1 ? "" : "s", titles[i]),
             figures::Look::line, i, line_points(curve.loss)});
        tables += epochs_table(run);
    }
    if (chart.series.empty()) return {};
    return {{chart,
             fmt::format(
                 "{} before each update, warm-up steps included; {} and {} are in the table of the epochs.",
                 definition_link("train_loss"), definition_link("validation_loss"),
                 definition_link("validation_accuracy")),
             tables}};
}

}  // namespace ranklab::report::page
