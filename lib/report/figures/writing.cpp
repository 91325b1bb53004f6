#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.hpp"
#include "report/figures/figure.hpp"
#include "report/model/io_ladder.hpp"
#include "report/model/io_scaling.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::figures {
namespace {

using results::Run;

constexpr double kLogarithmicFrom = 20;   // largest / smallest
constexpr double kLogarithmicWidths = 8;  // of ranks or workers; then both axes, so that linear is straight

constexpr const char* kTime = "job_time_s";

// A row of the ladder and where its numbers stand.
struct Rung {
    model::LadderRow row;
    Words time, speedup;
};

struct ShownLadder {
    std::string title;
    std::vector<Rung> rungs;
};

ShownLadder of_table(const Run& run, const results::Table& table) {
    ShownLadder ladder{fmt::format("{} (run {})", model::records_text(run), run.id), {}};
    const auto rows = model::ladder_rows(table);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Words time = cell_of(run, table, "job_time_s", i);
        if (!std::isnan(rows[i].time.s.low)) append(time, {" ", cell_interval(run, table, i)});
        ladder.rungs.push_back({rows[i], std::move(time), cell_of(run, table, "speedup", i)});
    }
    return ladder;
}

// The newest table `ladder`; a ladder that was climbed rung by rung is what its runs say.
ShownLadder shown_ladder(const model::GroupedRuns& grouped) {
    const model::Group* newest = nullptr;
    for (const auto& group : grouped.groups()) {
        const bool has = group.newest.command == "io" && group.newest.valid &&
                         group.newest.find_table("ladder") != nullptr;
        if (has && (newest == nullptr || newest->last_utc < group.last_utc)) newest = &group;
    }
    if (newest != nullptr) return of_table(newest->newest, *newest->newest.find_table("ladder"));
    std::vector<Run> runs;
    for (const auto& group : grouped.groups())
        if (group.newest.command == "io" && group.newest.valid) runs.push_back(group.newest);
    const model::Ladder ladder = model::newest_ladder(runs);
    ShownLadder shown{ladder.title, {}};
    for (const auto& row : ladder.rows)
        shown.rungs.push_back({row, {model::number(row.time.median_s)}, {model::number(row.speedup)}});
    return shown;
}

Chart bars_of(const ShownLadder& ladder, const std::string& name) {
    Chart chart;
    chart.name = name;
    std::vector<model::LadderRow> rows;
    for (const auto& rung : ladder.rungs) rows.push_back(rung.row);
    chart.categories = model::ladder_labels(rows);
    return chart;
}

Figure ladder_times(const ShownLadder& ladder) {
    Chart chart = bars_of(ladder, "ladder");
    chart.title = "Job time of each rung";
    ChartSeries series{"job time [s]", Look::points, 0, {}};
    double least = INFINITY, most = 0;
    for (std::size_t i = 0; i < ladder.rungs.size(); ++i) {
        const model::LadderRow& row = ladder.rungs[i].row;
        if (row.time.median_s > 0) least = std::min(least, row.time.median_s);
        most = std::max(most, std::isnan(row.time.median_s) ? 0 : row.time.median_s);
        series.points.push_back(
            {static_cast<double>(i), row.time.median_s, row.time.s, ladder.rungs[i].time});
    }
    chart.log_x = most > kLogarithmicFrom * least;
    chart.x_label = chart.log_x ? "job time [s], logarithmic" : "job time [s]";
    chart.series.push_back(std::move(series));
    Words caption{cut(ladder.title, 300) + ". Bars: medians of ", definition(kTime),
                  " over repetitions; lines: 95 % intervals, none below six repetitions."};
    std::set<std::string> marks;
    for (const auto& rung : ladder.rungs)
        if (!rung.row.mark.empty() && marks.insert(rung.row.mark).second)
            append(caption, {" ", strong(cut(rung.row.rung, 300)), ": " + cut(rung.row.mark, 300) + "."});
    return {chart, caption};
}

Figure ladder_speedups(const ShownLadder& ladder) {
    Chart chart = bars_of(ladder, "ladder_speedup");
    std::vector<model::LadderRow> rows;
    for (const auto& rung : ladder.rungs) rows.push_back(rung.row);
    const model::LadderRow& base = model::base_of(rows);
    chart.title = fmt::format("Speedup over {}", base.rung);
    ChartSeries series{"speedup", Look::points, 2, {}};
    double least = INFINITY, most = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double value = rows[i].speedup;
        if (value > 0) least = std::min(least, value);
        most = std::max(most, std::isnan(value) ? 0 : value);
        series.points.push_back({static_cast<double>(i), value, {}, ladder.rungs[i].speedup});
    }
    chart.log_x = most > kLogarithmicFrom * least;
    chart.x_label = chart.log_x ? "speedup, logarithmic" : "speedup";
    chart.series.push_back(std::move(series));
    Words caption{fmt::format("Ratio of median job times; the base is {} with ", cut(base.rung, 300))};
    append(caption, ladder.rungs[static_cast<std::size_t>(&base - rows.data())].time);
    append(caption, {" s."});
    return {chart, caption};
}

std::string series_name(const model::ScalingSeries& series) {
    std::string text = fmt::format("{} over {}, {} × {}²", series.rung,
                                   series.by_workers ? "workers" : "ranks", series.files, series.size);
    for (const auto& what : {series.variant, base::printable(series.surroundings, 60)})
        if (!what.empty()) text += ", " + what;
    return text;
}

// The base over itself is 1 by definition; its own uncertainty shows in the others' intervals.
std::vector<ChartPoint> speedup_points(const model::ScalingSeries& series, model::Ratios& ratios) {
    const model::ScalingPoint& base = series.points.front();
    std::vector<ChartPoint> points{{base.width, 1, {}, {derived(1, "the base, by definition")}}};
    for (std::size_t i = 1; i < series.points.size(); ++i) {
        const auto& [width, group] = series.points[i];
        const auto both = ratios.of(kTime, *base.group, *group);
        const auto found = both.speedup();
        points.push_back({width, found.ratio, found.ci,
                          derived_with_interval(
                              found.ratio, found.ci,
                              made_of(both, kTime, base.group->newest.id, group->newest.id, "repetitions"))});
    }
    return points;
}

ChartSeries linear(const model::ScalingSeries& series, std::size_t colour) {
    ChartSeries line{"linear", Look::dashed, colour, {}};
    const double base = series.points.front().width, most = series.points.back().width;
    for (int k = 0; k <= 32; ++k) {
        const double times = std::pow(most / base, k / 32.0);
        line.points.push_back({base * times, times});
    }
    return line;
}

Words base_words(const model::ScalingSeries& series) {
    const model::ScalingPoint& base = series.points.front();
    Words words{fmt::format(" Base of {}: ", cut(series_name(series), 300))};
    words.push_back(estimate_of(*base.group, kTime).front());  // each has that time
    append(words, {fmt::format(" s at {}.", base.width)});
    return words;
}

}  // namespace

std::vector<Figure> ladder_figures(const Source& source) {
    const ShownLadder ladder = shown_ladder(source.grouped);
    if (ladder.rungs.empty()) return {};
    return {ladder_times(ladder), ladder_speedups(ladder)};
}

std::vector<Figure> io_scaling_figures(const Source& source) {
    auto all = model::scaling_series(model::recent_groups(source.grouped, "io", 500));
    if (all.empty()) return {};
    if (all.size() > kColours.size()) all.resize(kColours.size());
    Chart chart;
    chart.name = "io_scaling";
    chart.title = "Speedup of writing over ranks or workers";
    chart.x_label = "ranks, or workers";
    chart.y_label = "speedup";
    model::Ratios ratios(source.load);
    std::set<double> widths;
    Words caption{"Ratio of median ", definition(kTime), "; dashed: linear, from the base on."};
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (const auto& point : all[i].points) widths.insert(point.width);
        chart.series.push_back({series_name(all[i]), Look::points, i, speedup_points(all[i], ratios)});
        chart.series.push_back(linear(all[i], i));
        append(caption, base_words(all[i]));
    }
    chart.x_tics.assign(widths.begin(), widths.end());
    chart.log_x = chart.log_y = *widths.rbegin() > kLogarithmicWidths * *widths.begin();
    return {{chart, caption}};
}

}  // namespace ranklab::report::figures
