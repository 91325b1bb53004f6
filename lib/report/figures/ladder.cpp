#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
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
    std::string cut_short = {};
};

// Without a table: that was climbed rung by rung.
ShownLadder ladder_of_rungs(const model::GroupedRuns& grouped) {
    std::vector<results::Run> runs;
    for (const auto& group : grouped.groups())
        if (group.newest.command == "io" && group.newest.valid) runs.push_back(group.newest);
    ShownLadder shown{model::newest_ladder(runs), {}, {}};
    for (const auto& row : shown.ladder.rows) {
        shown.times.push_back({model::number(row.time.median_s)});
        shown.speedups.push_back({model::number(row.speedup)});
    }
    return shown;
}

ShownLadder shown_ladder(const results::Run& run) {
    ShownLadder shown{model::newest_ladder({run}), {}, {}, run.cut_short()};
    const results::Table* table = run.find_table("ladder");
    for (std::size_t i = 0; i < shown.ladder.rows.size(); ++i) {
        const model::LadderRow& row = shown.ladder.rows[i];
        shown.times.push_back(cell_of(run, *table, "job_time_s", i));
        if (!std::isnan(row.time.s.low)) append(shown.times.back(), {" ", cell_interval(run, *table, i)});
        shown.speedups.push_back(cell_of(run, *table, "speedup", i));
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

std::string cut_text(const ShownLadder& shown) {
    return shown.cut_short.empty() ? ""
                                   : fmt::format(" Cut short ({}): not all that was asked for was measured.",
                                                 cut(shown.cut_short, 80));
}

Figure ladder_times(const ShownLadder& shown) {
    ChartSeries series{"job time [s]", Look::points, 0, {}};
    Words caption{cut(shown.ladder.title, 300) + ". Medians of ", definition(vocabulary::kJobTime),
                  " over repetitions; lines: 95 % intervals, none below six repetitions."};
    append(caption, {cut_text(shown)});
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
    append(caption, {" s. Lines: the widest intervals that those of both times allow." + cut_text(shown)});
    return {bars_of(shown, "ladder_speedup", "Speedup over " + base.rung + " (" + place_of(rows) + ")",
                    "speedup", std::move(series)),
            caption};
}

std::vector<Figure> both(const ShownLadder& shown) {
    if (shown.times.empty()) return {};
    return {ladder_times(shown), ladder_speedups(shown)};
}

using Ladders = std::vector<model::StoredLadder>;

// Whole ones before those that were cut short.
Ladders newest_first(const model::GroupedRuns& grouped) {
    Ladders ladders = grouped.ladders();
    std::ranges::stable_sort(ladders, std::greater(), &model::StoredLadder::started_utc);
    std::ranges::stable_partition(ladders, &std::string::empty, &model::StoredLadder::cut_short);
    return ladders;
}

std::vector<std::string> titles_of(const Ladders& ladders, const model::GroupedRuns& grouped) {
    std::vector<const model::Group*> groups;
    std::vector<std::string> labels;
    std::set<std::string> directories;
    for (const auto& ladder : ladders) {
        groups.push_back(&grouped.groups()[ladder.group]);
        labels.push_back(ladder.label);
        directories.insert(ladder.directory);
    }
    auto titles = model::group_titles(groups, labels, model::Named::settings);
    for (std::size_t i = 0; i < ladders.size(); ++i) {
        if (directories.size() > 1) titles[i] += ", directory " + ladders[i].directory;
        if (!ladders[i].cut_short.empty()) titles[i] += ", cut short: " + ladders[i].cut_short;
    }
    return titles;
}

// On one page no two figures have one name.
void number_names(std::vector<Figure>& figures, std::size_t number) {
    for (auto& figure : figures) figure.chart.name += fmt::format("_{}", number);
}

}  // namespace

std::vector<TitledFigures> figures_of_ladders(const Source& source, std::size_t most) {
    Ladders ladders = newest_first(source.grouped);
    if (ladders.empty()) return {{"", both(ladder_of_rungs(source.grouped))}};
    if (ladders.size() > most) ladders.resize(most);
    const auto titles = titles_of(ladders, source.grouped);
    std::vector<TitledFigures> all;
    for (std::size_t i = 0; i < ladders.size(); ++i) {
        all.push_back(
            {ladders.size() > 1 ? cut(titles[i], 200) : "", both(shown_ladder(source.load(ladders[i].id)))});
        if (i > 0) number_names(all.back().figures, i + 1);
    }
    return all;
}

std::vector<Figure> ladder_figures(const Source& source) {
    return figures_of_ladders(source, 1).front().figures;
}

}  // namespace ranklab::report::figures
