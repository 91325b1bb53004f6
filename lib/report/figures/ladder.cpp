#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/text.hpp"
#include "report/figures/figure.hpp"
#include "report/model/io_ladder.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::figures {
namespace {

constexpr double kLogarithmicFrom = 20;  // largest / smallest

// The ladder's rows, and where the numbers of each stand.
struct ShownLadder {
    model::Ladder ladder;
    std::vector<Words> times, speedups;
};

// The newest table `ladder`; a ladder that was climbed rung by rung is what its runs say.
ShownLadder shown_ladder(const model::GroupedRuns& grouped) {
    const model::Group* newest = nullptr;
    std::vector<results::Run> runs;
    for (const auto& group : grouped.groups()) {
        if (group.newest.command != "io" || !group.newest.valid) continue;
        runs.push_back(group.newest);
        const bool has = group.newest.find_table("ladder") != nullptr;
        if (has && (newest == nullptr || newest->last_utc < group.last_utc)) newest = &group;
    }
    if (newest != nullptr) runs = {newest->newest};
    ShownLadder shown{model::newest_ladder(runs), {}, {}};
    const results::Table* table = newest == nullptr ? nullptr : newest->newest.find_table("ladder");
    for (std::size_t i = 0; i < shown.ladder.rows.size(); ++i) {
        const model::LadderRow& row = shown.ladder.rows[i];
        if (table == nullptr) {
            shown.times.push_back({model::number(row.time.median_s)});
            shown.speedups.push_back({model::number(row.speedup)});
            continue;
        }
        shown.times.push_back(cell_of(runs[0], *table, "job_time_s", i));
        if (!std::isnan(row.time.s.low)) append(shown.times.back(), {" ", cell_interval(runs[0], *table, i)});
        shown.speedups.push_back(cell_of(runs[0], *table, "speedup", i));
    }
    return shown;
}

Chart bars_of(const ShownLadder& shown, const std::string& name, const std::string& title,
              const std::string& label, ChartSeries series) {
    Chart chart{.name = name, .title = title, .categories = model::ladder_labels(shown.ladder.rows)};
    double least = INFINITY, most = 0;
    for (std::size_t i = 0; i < series.points.size(); ++i) {
        ChartPoint& point = series.points[i];
        point.x = static_cast<double>(i);
        if (point.y > 0) least = std::min(least, point.y);
        if (std::isfinite(point.y)) most = std::max(most, point.y);
    }
    chart.log_x = most > kLogarithmicFrom * least;
    chart.x_label = chart.log_x ? label + ", logarithmic" : label;
    chart.series.push_back(std::move(series));
    return chart;
}

// Of all rows, each once: these are times of writing.
std::string place_of(const std::vector<model::LadderRow>& rows) {
    std::set<std::string> places;
    for (const auto& row : rows)
        places.insert(model::place_text({.file_system = row.place.file_system, .fsync = row.place.fsync}));
    return cut(base::join({places.begin(), places.end()}, "; "), 80);
}

Figure ladder_times(const ShownLadder& shown) {
    ChartSeries series{"job time [s]", Look::points, 0, {}};
    Words caption{cut(shown.ladder.title, 300) + ". Medians of ", definition(vocabulary::kJobTime),
                  " over repetitions; lines: 95 % intervals, none below six repetitions."};
    std::set<std::string> marks;
    for (std::size_t i = 0; i < shown.times.size(); ++i) {
        const model::LadderRow& row = shown.ladder.rows[i];
        series.points.push_back({0, row.time.median_s, row.time.s, shown.times[i]});
        if (!row.mark.empty() && marks.insert(row.mark).second)
            append(caption, {" ", strong(cut(row.rung, 300)), ": " + cut(row.mark, 300) + "."});
    }
    return {bars_of(shown, "ladder", "Job time of each rung (" + place_of(shown.ladder.rows) + ")",
                    "job time [s]", std::move(series)),
            caption};
}

Figure ladder_speedups(const ShownLadder& shown) {
    const auto& rows = shown.ladder.rows;
    const model::LadderRow& base = model::base_of(rows);
    ChartSeries series{"speedup", Look::points, 2, {}};
    for (std::size_t i = 0; i < rows.size(); ++i)
        series.points.push_back({0, rows[i].speedup, rows[i].speedup_ci, shown.speedups[i]});
    Words caption{fmt::format("Ratio of median job times; the base is {} with ", cut(base.rung, 300))};
    append(caption, shown.times[static_cast<std::size_t>(&base - rows.data())]);
    append(caption, {" s. Lines: the widest intervals that those of both times allow."});
    return {bars_of(shown, "ladder_speedup", "Speedup over " + base.rung + " (" + place_of(rows) + ")",
                    "speedup", std::move(series)),
            caption};
}

}  // namespace

std::vector<Figure> ladder_figures(const Source& source) {
    const ShownLadder shown = shown_ladder(source.grouped);
    if (shown.times.empty()) return {};
    return {ladder_times(shown), ladder_speedups(shown)};
}

}  // namespace ranklab::report::figures
