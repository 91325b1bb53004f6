// The sections on collectives, the ladder and published numbers.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/numbers.hpp"
#include "report/figures/figure.hpp"
#include "report/model/ladder.hpp"
#include "report/model/network.hpp"
#include "report/model/scaling.hpp"
#include "report/model/values.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::figures {
namespace {

using model::Groups;
using model::Message;
using model::SizeCurve;
using results::Run;

constexpr std::size_t kMostCurves = 5, kMostRuns = 3;

// In-place curves look like out-of-place ones: draws them only for operations without the latter.
std::vector<SizeCurve> drawn_curves(const Run& run) {
    auto all = model::size_curves_of(run);
    std::set<std::string> out_of_place;
    for (const auto& curve : all)
        if (!curve.front().in_place()) out_of_place.insert(curve.front().op);
    std::erase_if(all, [&](const SizeCurve& curve) {
        const bool other = out_of_place.contains(curve.front().op);
        // A barrier has no message size.
        return (curve.front().in_place() && other) || curve.back().bytes <= 0;
    });
    SizeCurve buckets = model::messages_of(run, "buckets");
    for (auto& one : buckets) one.op = "gradient buckets";
    std::ranges::stable_sort(buckets, {}, &Message::bytes);
    if (!buckets.empty()) all.push_back(std::move(buckets));
    if (all.size() > kMostCurves) all.resize(kMostCurves);
    return all;
}

void add_pictures(Section& section, const Run& run, const std::string& name, std::size_t number) {
    Figure times{.name = "collectives_time",
                 .title = "Time of a call: " + name,
                 .x_label = "message size",
                 .y_label = "time of a call",
                 .unit = "us",
                 .log_x = true,
                 .log_y = true,
                 .x_bytes = true};
    Figure rates = times;
    rates.name = "collectives_busbw";
    rates.title = "Bus bandwidth: " + name;
    rates.y_label = "bus bandwidth";
    rates.unit = "GB/s";
    times.caption = fmt::format("Run {}: medians over calls with 95 % intervals; {}.", run.id,
                                run.fact(fact::kPolicy));
    rates.caption = "From the same calls; the longest time gives the least bandwidth.";
    const auto curves = drawn_curves(run);
    for (std::size_t i = 0; i < curves.size(); ++i) {
        Series time{model::full_name(curves[i].front()), Look::points, i, {}}, rate = time;
        for (const auto& one : curves[i]) {
            const auto bytes = static_cast<double>(one.bytes);
            const double moved = one.busbw * one.time;
            if (one.bytes <= 0) continue;
            time.points.push_back({bytes, one.time, one.interval});
            if (one.busbw > 0)
                rate.points.push_back(
                    {bytes, one.busbw, {moved / one.interval.high, moved / one.interval.low}});
        }
        times.series.push_back(std::move(time));
        rates.series.push_back(std::move(rate));
    }
    for (Figure* figure : {&times, &rates}) {
        if (number > 0) figure->name += fmt::format("_{}", number + 1);
        section.figures.push_back(std::move(*figure));
    }
}

void add_ladder(Section& section, const model::Ladder& ladder, const std::string& title) {
    Figure figure{
        .name = "ladder",
        .title = "Job time of each strategy",
        .x_label = "job time",
        .unit = "s",
        .caption = fmt::format("{}{}: medians over repetitions with 95 % intervals from six on.",
                               ladder.title, title)};
    const Frame& table = ladder.table;
    for (std::size_t row = 0; row < table.rows.size(); ++row)
        add_bar(figure, table.at(row, "strategy").text,
                table.rows[row].has(CaveatKind::invalid) ? Cell()
                                                         : table.at(row, vocabulary::kJobTime));
    section.figures.push_back(std::move(figure));
    section.tables.push_back(model::frame_of(ladder, true));
    std::ranges::move(sentences_of(ladder.findings),
                      std::back_inserter(section.tables.back().notes));
}

// The value relative to the value at the least x; over files, the time per file.
Cell relative(const base::CsvRow& row, double x, double y, double first) {
    if (row.at("over") == setting::kFiles) return y / x;
    const auto better = vocabulary::better_of(row.at("quantity"), results::Kind::cost);
    return better == vocabulary::Better::more ? y / first : first / y;
}

// Draws a published curve and the curves of our groups of the same experiment. Draws nothing if no
// group has a curve.
void add_published(Figure& figure, const Source& source, const base::CsvRow& row,
                   const std::vector<std::size_t>& same) {
    const Groups& groups = source.groups;
    const std::string &over = row.at("over"), &quantity = row.at("quantity");
    std::map<std::string, std::map<double, double>> ours;
    const auto put = [&](const std::string& title, double at, std::size_t group) {
        if (groups.has(group, quantity) && std::ranges::count(same, group) > 0)
            ours[title].try_emplace(at, groups.estimate(group, quantity).number);
    };
    // scaling_over() has no curves over files, since more files are more work: takes the groups.
    const auto titles = groups.titles(same, {over});
    for (std::size_t i = 0; i < same.size(); ++i)
        if (const auto at = base::number_in(groups.key(same[i], over));
            at && over == setting::kFiles)
            put(titles[i], *at, same[i]);
    const model::Scaling scaling = model::scaling_over(groups, over);
    for (const bool weak : {false, true})
        for (const auto& curve : model::curves_of(groups, scaling, weak))
            for (std::size_t i = 0; i < curve.groups.size(); ++i)
                put(curve.title + (weak ? ", weak scaling" : ""), curve.widths[i], curve.groups[i]);
    std::erase_if(ours, [](const auto& one) { return one.second.size() < 2; });
    if (ours.empty()) return;
    const auto x = model::numbers_in(row.at("x")), y = model::numbers_in(row.at("y"));
    const bool of_files = over == setting::kFiles;
    if (figure.series.empty())
        figure = {.title = row.at("figure"),
                  .x_label = over,
                  .y_label = of_files ? "time of a file" : "speedup",
                  .unit = of_files ? "s" : "1",
                  .log_x = x.back() > 8 * x.front()};
    const auto add = [&](const std::string& title, const auto& points) {
        if (std::ranges::count(figure.series, title, &Series::title) > 0) return;
        Series series{title, Look::points, figure.series.size(), {}};
        for (const auto& [at, value] : points)
            series.points.push_back(
                {at, relative(row, at, value, points.begin()->second).number, {}});
        figure.series.push_back(std::move(series));
    };
    std::map<double, double> published;
    for (std::size_t i = 0; i < x.size(); ++i) published[x[i]] = y[i];
    add("published: " + row.at("experiment"), published);
    for (const auto& [title, points] : ours) add("ours: " + title, points);
    figure.caption += fmt::format("{}: {}. ", row.at("experiment"), row.at("conditions"));
}

// Our value of a published quantity: a measurement, or with "percent:PHASE" the phase's share of
// the mean step.
Cell ours_of(const Groups& groups, std::size_t group, const Run& run, const std::string& quantity) {
    constexpr std::string_view kPercent = "percent:";
    if (!quantity.starts_with(kPercent)) return groups.estimate(group, quantity);
    for (const auto& part : model::step_parts(run))
        if (part.text("phase") == quantity.substr(kPercent.size())) return part.number("percent");
    return {};
}

}  // namespace

Section collectives_section(const Source& source) {
    Section section{"collectives", "Collectives"};
    const auto groups = newest_groups(source.groups, "comm", kMostRuns);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const Run run = source.newest(groups[i]);
        add_pictures(section, run, source.groups.name(groups[i]), i);
        for (const char* table : {"messages", "fits", "nonblocking", "buckets", "clocks"})
            if (const auto* stored = run.find_table(table))
                section.tables.push_back(model::frame_of(*stored, 400));
    }
    return section;
}

// Runs of a sweep over ranks are no ladders of their own.
std::optional<std::size_t> largest_ladder(const Groups& groups) {
    // A run that holds a ladder has no measurements, and so no group.
    const Frame& runs = groups.runs();
    const std::size_t ladders = runs.find("ladder", Role::table);
    const auto number = [&](std::size_t row, std::string_view name) {
        return base::number_in(runs.at(row, runs.find(name, Role::factor)).text).value_or(0);
    };
    const auto size_of = [&](std::size_t row) {
        const double rows = runs.at(row, ladders).number, edge = number(row, setting::kSize);
        return rows > 1 && !runs.rows[row].has(CaveatKind::invalid)
                   ? std::pair(rows, number(row, setting::kFiles) * edge * edge)
                   : std::pair(0.0, 0.0);
    };
    std::size_t largest = 0;
    for (std::size_t row = 0; row < runs.rows.size(); ++row)
        if (size_of(row) >= size_of(largest)) largest = row;
    return runs.empty() || size_of(largest).first == 0 ? std::nullopt : std::optional(largest);
}

Section ladder_section(const Source& source) {
    Section section{"ladder", "The file-writing ladder"};
    const auto largest = largest_ladder(source.groups);
    if (!largest) return section;
    const Run run =
        source.file.read(source.groups.runs().at(*largest, "id").text, results::Detail::summaries);
    const model::Ladder ladder = model::ladder_of(run, &source.groups);
    add_ladder(section, ladder,
               (run.label.empty() ? "" : ", label " + run.label) +
                   (run.cut_short().empty() ? "" : ", cut short"));
    section.answers = {
        {"Which way of writing is fastest?", ladder.title, ladder.findings.front(),
         doubts_of(source.groups.table(), newest_groups(source.groups, "io", SIZE_MAX))}};
    return section;
}

Section published_section(const Source& source) {
    Frame frame{.title = "The same experiment on other hardware"};
    frame.columns = columns_of("experiment* | quantity | published | ours | conditions | source");
    Section section{"reference", "Published beside ours"};
    std::vector<std::pair<std::size_t, results::Run>> newest;
    for (const std::size_t group : newest_groups(source.groups, "", 500))
        newest.emplace_back(group, source.newest(group));
    InsertionOrderedMap<std::string, Figure> figures;
    for (const auto& row : source.references) {
        std::vector<std::size_t> same;
        for (const auto& [group, run] : newest) {
            if (!model::is_same_experiment(row, run)) continue;
            same.push_back(group);
            if (model::is_curve(row)) continue;
            const auto &quantity = row.at("quantity"), &note = row.at("note");
            const Cell found = ours_of(source.groups, group, run, quantity);
            if (!found.is_number()) continue;
            const std::string unit = row.at("unit");
            frame.rows.push_back(
                {{row.at("experiment"), quantity,
                  readable(base::number_above_0(row.at("value")), unit),
                  readable(found.number, found.interval, unit), row.at("conditions"),
                  row.at("source") + (note.empty() ? "" : "; " + note) + "; " + row.source},
                 {}});
            break;  // the newest
        }
        if (model::is_curve(row)) add_published(figures[row.at("figure")], source, row, same);
    }
    for (auto& figure : figures.all()) {
        if (figure.series.empty()) continue;
        figure.name = fmt::format("published_{}", section.figures.size() + 1);
        section.figures.push_back(std::move(figure));
    }
    section.tables = {std::move(frame)};
    return section;
}

}  // namespace ranklab::report::figures
