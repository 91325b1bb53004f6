// The sections on collectives, the ladder and published numbers.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/figures/figure.hpp"
#include "report/model/ladder.hpp"
#include "report/model/messages.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::figures {
namespace {

using model::Message;
using model::SizeCurve;
using results::Run;

constexpr std::size_t kMostCurves = 5, kMostRuns = 3, kMostLadders = 4;

// In-place curves look like out-of-place ones, and are drawn only for operations without these.
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

Figure ladder_bars(const model::Ladder& ladder, const std::string& name, bool speedup,
                   const std::string& caption) {
    const Frame& table = ladder.table;
    Figure figure{.name = name,
                  .title = speedup ? "Speedup over " + table.at(ladder.base, "strategy").text
                                   : "Job time of each strategy",
                  .x_label = speedup ? "speedup" : "job time [s]",
                  .unit = speedup ? "1" : "s",
                  .caption = caption};
    Series series{figure.x_label, Look::points, speedup ? 2U : 0U, {}};
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const Cell& cell = table.at(row, speedup ? "speedup" : vocabulary::kJobTime);
        const bool stands = !table.rows[row].has(CaveatKind::invalid);
        figure.categories.push_back(table.at(row, "strategy").text);
        series.points.push_back(
            {static_cast<double>(row), stands ? cell.number : stats::kNone, cell.interval});
    }
    figure.series.push_back(std::move(series));
    return figure;
}

void add_ladder(Section& section, const model::Ladder& ladder, const std::string& title,
                std::size_t number) {
    const std::string end = number == 0 ? "" : fmt::format("_{}", number + 1);
    section.figures.push_back(
        ladder_bars(ladder, "ladder" + end, false,
                    fmt::format("{}{}: medians over repetitions with 95 % intervals from six on.",
                                ladder.title, title)));
    section.figures.push_back(
        ladder_bars(ladder, "ladder_speedup" + end, true, "Ratio of median job times."));
    section.tables.push_back(model::frame_of(ladder, true));
    for (const auto& finding : ladder.findings)
        section.tables.back().notes.push_back(sentence(finding));
}

}  // namespace

Section collectives_section(const Source& source) {
    Section section{"collectives", "Collectives"};
    const auto groups = newest_groups(source.groups, "comm", kMostRuns);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const Run run = source.newest(groups[i]);
        add_pictures(section, run, source.groups.name(groups[i]), i);
        for (const char* table :
             {"messages", "fits", "guidelines", "nonblocking", "buckets", "clocks"})
            if (const auto* stored = run.find_table(table))
                section.tables.push_back(model::frame_of(*stored, 400));
    }
    return section;
}

Section ladder_section(const Source& source) {
    Section section{"ladder", "The file-writing ladder"};
    std::vector<Run> stored;
    // A run that holds a ladder has no measurements, and so no group.
    const Frame& runs = source.groups.runs();
    const std::size_t ladders = runs.find("ladder", Role::table);
    for (std::size_t row = 0; row < runs.rows.size(); ++row)
        if (!runs.at(row, ladders).empty() && !runs.rows[row].has(CaveatKind::invalid))
            stored.push_back(source.file.read(runs.at(row, "id").text, results::Detail::summaries));
    std::ranges::stable_sort(stored, std::greater(), &Run::started_utc);
    if (stored.size() > kMostLadders) stored.resize(kMostLadders);
    for (std::size_t i = 0; i < stored.size(); ++i) {
        const std::string label = stored[i].label.empty() ? "" : ", label " + stored[i].label;
        const std::string cut = stored[i].cut_short().empty() ? "" : ", cut short";
        add_ladder(section, model::ladder_of(stored[i]), label + cut, i);
    }
    return section;
}

Section published_section(const Source& source) {
    Frame frame{.title = "The same model, data and strategy on other hardware"};
    frame.columns = {{.name = "experiment", .role = Role::key},
                     {.name = "quantity"},
                     {.name = "published"},
                     {.name = "ours"},
                     {.name = "conditions"},
                     {.name = "source"}};
    std::vector<std::pair<std::size_t, results::Run>> newest;
    for (const std::size_t group : newest_groups(source.groups, "", 500))
        newest.emplace_back(group, source.newest(group));
    for (const auto& row : source.references)
        for (const auto& [group, run] : newest) {
            const auto &quantity = row.at("quantity"), &note = row.at("note");
            if (row.at("same_as").empty() || !source.groups.has(group, quantity)) continue;
            if (!model::is_same_experiment(row, run)) continue;
            const auto found = source.groups.estimate(group, quantity);
            frame.rows.push_back(
                {{row.at("experiment"), quantity,
                  readable(base::number_above_0(row.at("value")), row.at("unit")),
                  readable(found.number, found.interval, source.groups.unit(quantity)),
                  row.at("conditions"),
                  row.at("source") + (note.empty() ? "" : "; " + note) + "; " + row.source},
                 {}});
        }
    return {"reference", "Published figures", {}, {std::move(frame)}};
}

}  // namespace ranklab::report::figures
