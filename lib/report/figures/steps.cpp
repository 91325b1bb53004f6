#include <fmt/format.h>

#include <algorithm>

#include "report/figures/figure.hpp"
#include "report/figures/lines.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"
#include "stats/series.hpp"

namespace ranklab::report::figures {
namespace {

using results::Measurement;
using results::Run;

constexpr std::size_t kMostRuns = 2;  // step by step
constexpr std::size_t kMostMarked = 1200;
constexpr std::size_t kMostListed = 30;  // outliers in a table

Number sample_of(double value, std::size_t step, const Run& run) {
    const bool by_rank = run.find(vocabulary::kStepTime)->columns > 1;
    return derived(value, fmt::format("{}samples/{}[{}{}], run {}", by_rank ? "largest over ranks of " : "",
                                      vocabulary::kStepTime, step, by_rank ? ", :" : "", run.id));
}

// Samples beyond the fences, with the steps they are of.
std::vector<std::size_t> outlying(const std::vector<double>& samples, const stats::Outliers& found) {
    std::vector<std::size_t> steps;
    for (std::size_t i = 0; i < samples.size(); ++i)
        if (samples[i] < found.low_fence || samples[i] > found.high_fence) steps.push_back(i);
    return steps;
}

NumberTable steps_table(const Run& run, const Measurement& m, const std::vector<double>& samples,
                        const std::vector<std::size_t>& outliers) {
    NumberTable table;
    const auto add = [&](std::string name, Word value) {
        table.rows.push_back({{std::move(name)}, {std::move(value)}});
    };
    for (const char* const field : {"n", "median", "min", "max", "p95", "p99"})
        add(field, number_of(run, m, field));
    add("outliers", fmt::format("{} of {}", outliers.size(), samples.size()));
    for (std::size_t i = 0; i < std::min(outliers.size(), kMostListed); ++i)
        add(fmt::format("outlier: step {}", outliers[i] + 1),
            sample_of(samples[outliers[i]], outliers[i], run));
    if (outliers.size() > kMostListed) add("…", fmt::format("and {} more", outliers.size() - kMostListed));
    return table;
}

Words settling(const std::vector<double>& samples) {
    if (samples.size() < stats::kFewestForWarmup)
        return {fmt::format("They are too few (below {}) to tell by MSER-5 whether the run had settled.",
                            stats::kFewestForWarmup)};
    const std::size_t settled = stats::warmup_end(samples);
    if (settled == 0) return {"The counted steps show no further beginning unlike the rest (MSER-5)."};
    return {strong(fmt::format("By MSER-5 the run had settled only after {} of its counted steps", settled)),
            ": a longer warm-up may be wise."};
}

Figure steps_of(const Run& run, const std::string& title, std::size_t number) {
    const Measurement& m = *run.find(vocabulary::kStepTime);
    const auto samples = m.largest_of_rows();
    const std::vector<double> all = rows_of(run, vocabulary::kStepTime);
    const std::size_t warm_up = all.size() - samples.size();
    Chart chart{.name = fmt::format("steps_{}", number),
                .title = title,
                .x_label = "step, warm-up included",
                .y_label = "step time [s]",
                .wide = true};
    if (warm_up > 0) chart.shaded_to = static_cast<double>(warm_up) + 0.5;
    chart.series.push_back(
        {"step time, slowest rank", Look::line, 0, line_points(numbers_to(all.size()), all)});
    const auto outliers = outlying(samples, stats::outliers(samples));
    ChartSeries marks{"outlier", Look::marks, 1, {}};
    for (std::size_t i = 0; i < std::min(outliers.size(), kMostMarked); ++i)
        marks.points.push_back({static_cast<double>(warm_up + outliers[i] + 1), samples[outliers[i]]});
    if (!marks.points.empty()) chart.series.push_back(std::move(marks));
    Words caption{fmt::format("Run {}: ", run.id), definition(vocabulary::kStepTime),
                  fmt::format(" per step, the slowest rank's. Shaded: {} warm-up steps, which no number "
                              "counts. ",
                              warm_up)};
    append(caption, settling(samples));
    caption.emplace_back(
        fmt::format(" Outliers (beyond three interquartile ranges from the quartiles): {}, all counted.",
                    outliers.size()));
    return {chart, caption, {steps_table(run, m, samples, outliers)}};
}

}  // namespace

std::vector<Figure> step_figures(const Source& source) {
    std::vector<Figure> figures;
    const auto groups = newest_trained(source, kMostRuns, vocabulary::kStepTime);
    const auto titles = model::group_titles(groups);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const Run run = source.load(groups[i]->newest.id);
        const Measurement* m = run.find(vocabulary::kStepTime);
        if (m != nullptr && m->rows() > 0)
            figures.push_back(steps_of(
                run, fmt::format("{} on {}", titles[i], model::counted(groups[i]->ranks, "rank")), i + 1));
    }
    return figures;
}

}  // namespace ranklab::report::figures
