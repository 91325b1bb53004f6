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
ShownLadder shown_ladder(const model::Campaign& campaign) {
    const model::Group* newest = nullptr;
    for (const auto& group : campaign.groups()) {
        const bool has = group.newest.command == "io" && group.newest.valid &&
                         group.newest.find_table("ladder") != nullptr;
        if (has && (newest == nullptr || newest->last_utc < group.last_utc)) newest = &group;
    }
    if (newest != nullptr) return of_table(newest->newest, *newest->newest.find_table("ladder"));
    std::vector<Run> runs;
    for (const auto& group : campaign.groups())
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
    Words caption{cut(ladder.title, 300) + ". Bars: medians of ", definition("job_time_s"),
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

}  // namespace

std::vector<Figure> ladder_figures(const Source& source) {
    const ShownLadder ladder = shown_ladder(source.campaign);
    if (ladder.rungs.empty()) return {};
    return {ladder_times(ladder), ladder_speedups(ladder)};
}

std::vector<Figure> io_scaling_figures(const Source& source) {
    std::vector<Run> runs;
    for (const model::Group* group : model::recent_groups(source.campaign, "io", 500))
        if (group->valid > 0) runs.push_back(group->newest);
    auto all = model::scaling_series(runs);
    if (all.size() > kColours.size()) all.resize(kColours.size());
    Chart chart;
    chart.name = "io_scaling";
    chart.title = "Speedup of writing over ranks or workers";
    chart.x_label = "ranks, or workers";
    chart.y_label = "speedup";
    std::set<double> widths;
    Words caption{"Ratio of median ", definition("job_time_s"), "; dashed: linear, from the base on."};
    for (std::size_t i = 0; i < all.size(); ++i) {
        ChartSeries series{series_name(all[i]), Look::points, i, {}};
        const model::ScalingPoint& base = all[i].points.front();
        for (const auto& point : all[i].points) {
            const std::string formula =
                fmt::format("job_time_s median of run {} / that of run {}; widest interval that both allow",
                            base.run, point.run);
            widths.insert(point.width);
            series.points.push_back(
                {point.width, point.speedup.ratio, point.speedup.interval,
                 derived_with_interval(point.speedup.ratio, point.speedup.interval, formula)});
        }
        append(caption, {fmt::format(" Base of {}: ", cut(series.title, 300)),
                         derived(base.time.median_s, "job_time_s median of run " + base.run),
                         fmt::format(" s at {}.", base.width)});
        ChartSeries ideal{"linear", Look::dashed, i, {}};
        for (int k = 0; k <= 32; ++k) {
            const double times = std::pow(all[i].points.back().width / base.width, k / 32.0);
            ideal.points.push_back({base.width * times, times});
        }
        chart.series.push_back(std::move(series));
        chart.series.push_back(std::move(ideal));
    }
    if (chart.series.empty()) return {};
    chart.x_tics.assign(widths.begin(), widths.end());
    chart.log_x = chart.log_y = *widths.rbegin() > kLogarithmicWidths * *widths.begin();
    return {{chart, caption}};
}

}  // namespace ranklab::report::figures
