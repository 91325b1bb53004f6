#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/figures/figure.hpp"
#include "report/model/messages.hpp"
#include "report/model/step_network.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::figures {
namespace {

using model::Group;
using model::StepNetwork;
using results::Run;
using results::Table;

constexpr std::size_t kMostTrainings = 3;
constexpr double kMilli = 1e-3;

Words given(const StepNetwork& beside, const model::BucketCost& bucket) {
    if (std::isnan(bucket.network_s)) return {{Word::Kind::none, "outside of what was measured"}};
    return {
        derived(bucket.network_s,
                fmt::format("s: an allreduce of {:.0f} B on the measured curve, between two sizes a straight "
                            "line of the logarithms; run {}",
                            bucket.bytes, beside.comm_run))};
}

// Shown in ms; the number keeps its seconds.
Words in_ms(Words words) {
    for (auto& word : words)
        for (auto& number : word.numbers) number.divided_by = kMilli;
    return words;
}

std::string ms(double seconds) {
    return model::number(seconds / kMilli) + " ms";
}

Words ratio_of(double pays, double gives) {
    if (std::isnan(gives)) return {};
    return {derived(pays / gives, fmt::format("{} / {}", pays, gives)), soft(" x")};
}

NumberTable costs_table(const StepNetwork& beside, const Run& training, const Table& table) {
    NumberTable made{{strong("What each bucket should cost, and what it did")},
                     {"bucket", "bytes", "the network gives [ms]", "the step pays [ms]", "ratio"},
                     {}};
    for (const auto& bucket : beside.buckets)
        made.rows.push_back(
            {cell_of(training, table, "bucket", bucket.row), cell_of(training, table, "bytes", bucket.row),
             in_ms(given(beside, bucket)),
             in_ms(cell_of(training, table, std::string(vocabulary::kTransferTime), bucket.row)),
             ratio_of(bucket.step_s, bucket.network_s)});
    const double gives = beside.network_s(), pays = beside.step_s();
    if (std::isnan(gives)) return made;
    const std::string of =
        fmt::format("sum over the buckets inside of what run {} measured", beside.comm_run);
    made.rows.push_back({{"sum"},
                         {},
                         in_ms({derived(gives, "s: " + of)}),
                         in_ms({derived(pays, "s: " + of)}),
                         ratio_of(pays, gives)});
    return made;
}

Words caption_of(const StepNetwork& beside, const Run& training) {
    const std::size_t outside = beside.outside();
    const double gives = beside.network_s(), pays = beside.step_s();
    Words words{fmt::format("Run {}: the transfer of its gradient buckets (", training.id),
                definition(vocabulary::kTransferTime),
                "), and what an allreduce of that size takes with nothing "
                "beside it, medians with 95 % intervals, run " +
                    beside.comm_run + "."};
    if (!std::isnan(gives))
        append(words, {strong(fmt::format(" The network gives these {} {}; the step pays {}, {} x.",
                                          model::counted(beside.buckets.size() - outside, "bucket"),
                                          ms(gives), ms(pays), model::number(pays / gives)))});
    if (outside > 0)
        append(words, {fmt::format(" {} of {} outside of the measured {} .. {}: nothing is extrapolated.",
                                   model::counted(outside, "bucket"), beside.buckets.size(),
                                   model::size_text(beside.curve.front().bytes),
                                   model::size_text(beside.curve.back().bytes))});
    return words;
}

Chart chart_of(const StepNetwork& beside, const Run& training, const Table& table, const std::string& title) {
    Chart chart{.name = "network",
                .title = "Gradient buckets on the network's curve: " + title,
                .x_label = "size of the message",
                .y_label = "allreduce [s]",
                .log_x = true,
                .log_y = true,
                .x_bytes = true,
                .y_seconds = true};
    ChartSeries network{"what the network gives", Look::points, 0, {}};
    ChartSeries between{"between two sizes", Look::dashed, 0, {}};
    for (const auto& point : beside.curve) {
        network.points.push_back(
            {point.bytes, point.time_s, point.s,
             derived_with_interval(point.time_s, point.s, "s: median, run " + beside.comm_run)});
        between.points.push_back({point.bytes, point.time_s});
    }
    ChartSeries step{"what the step pays", Look::points, 1, {}};
    for (const auto& bucket : beside.buckets)
        step.points.push_back({bucket.bytes,
                               bucket.step_s,
                               {},
                               cell_of(training, table, std::string(vocabulary::kTransferTime), bucket.row)});
    chart.series = {std::move(network), std::move(between), std::move(step)};
    return chart;
}

}  // namespace

std::vector<Figure> network_figures(const Source& source) {
    std::vector<const Group*> groups;
    for (const Group* group : model::recent_groups(source.grouped, "train", SIZE_MAX))
        if (model::pays_network(group->newest, group->ranks)) groups.push_back(group);
    std::ranges::stable_sort(groups,
                             [](const Group* a, const Group* b) { return a->last_utc > b->last_utc; });
    if (groups.size() > kMostTrainings) groups.resize(kMostTrainings);
    const auto titles = model::group_titles(groups);
    std::vector<Figure> figures;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const Run& training = groups[i]->newest;
        const Table& table = *training.find_table("communication");
        const auto beside = model::step_network(source.grouped, *groups[i], source.load);
        if (!beside) continue;
        figures.push_back({chart_of(*beside, training, table, cut(titles[i], 120)),
                           caption_of(*beside, training),
                           {costs_table(*beside, training, table)}});
        if (figures.size() > 1) figures.back().chart.name += fmt::format("_{}", figures.size());
    }
    return figures;
}

}  // namespace ranklab::report::figures
