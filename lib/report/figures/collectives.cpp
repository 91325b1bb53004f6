#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "report/figures/figure.hpp"
#include "report/figures/stored_table.hpp"
#include "report/model/messages.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::figures {
namespace {

using model::Curve;
using model::Message;
using results::Run;
using results::Table;

constexpr std::size_t kMostCurves = 5;  // in a picture
constexpr std::size_t kMostDrawn = 3 * kMostCurves;
constexpr int kPieces = 48;  // of a fitted line
constexpr const char* kFitted = "fitted: latency + size / bandwidth";

// The fit of that curve: alpha and 1 / bandwidth. Where it is marked, there is no one line to draw.
struct Fit {
    double alpha_us = stats::kNone, us_per_byte = stats::kNone;
};

Fit fit_of(const Run& run, const Message& curve) {
    const Table* table = run.find_table("fits");
    if (table == nullptr) return {};
    for (const auto& one : model::messages_in(*table))
        if (one.op == curve.op && one.level == curve.level && one.load == curve.load &&
            one.dtype == curve.dtype && one.redop == curve.redop && one.place == curve.place &&
            one.mark.empty())
            return {model::number_at(*table, "alpha_us", one.row),
                    1e-3 / model::number_at(*table, "bandwidth_GBps", one.row)};
    return {};
}

// `value` of a size's fitted time.
template <class Value>
ChartSeries fitted_line(const Curve& curve, const Fit& fit, std::size_t colour, Value value) {
    ChartSeries line{kFitted, Look::dashed, colour, {}};
    double low = 0;
    for (const auto& one : curve.messages)
        if (low == 0) low = static_cast<double>(one.bytes);
    const double high = static_cast<double>(curve.largest().bytes);
    if (!(low > 0) || !(high > low) || !std::isfinite(fit.alpha_us + fit.us_per_byte)) return line;
    for (int i = 0; i <= kPieces; ++i) {
        const double bytes = low * std::pow(high / low, static_cast<double>(i) / kPieces);
        const double us = fit.alpha_us + bytes * fit.us_per_byte;
        if (us > 0) line.points.push_back({bytes, value(bytes, us)});
    }
    return line;
}

Chart empty_chart(const char* name, const char* title, const char* y_label) {
    return {.name = name,
            .title = title,
            .x_label = "message size",
            .y_label = y_label,
            .log_x = true,
            .log_y = true,
            .x_bytes = true};
}

ChartPoint time_point(const Run& run, const Table& table, const Message& one) {
    Words shown = cell_of(run, table, "time_us", one.row);
    if (std::isfinite(one.interval.low))
        append(shown, {" ", cell_interval(run, table, one.row, "low_us", "high_us")});
    return {static_cast<double>(one.bytes), one.time, one.interval, std::move(shown)};
}

// The longest time is the least bandwidth.
ChartPoint rate_point(const Run& run, const Table& table, const Message& one) {
    const double moved = one.busbw * one.time;
    return {static_cast<double>(one.bytes),
            one.busbw,
            {moved / one.interval.high, moved / one.interval.low},
            cell_of(run, table, "busbw_GBps", one.row)};
}

struct NamedCurve {
    const Table* table = nullptr;  // that its messages are rows of
    Curve curve;
    std::string name = {};
};

void add_curve(Chart& times, Chart& rates, const Run& run, const NamedCurve& drawn) {
    const Table& table = *drawn.table;
    const Curve& curve = drawn.curve;
    const std::size_t colour =
        static_cast<std::size_t>(std::ranges::count(times.series, Look::points, &ChartSeries::look));
    ChartSeries time{drawn.name, Look::points, colour, {}}, rate{drawn.name, Look::points, colour, {}};
    for (const auto& one : curve.messages) {
        if (one.bytes <= 0) continue;
        time.points.push_back(time_point(run, table, one));
        if (one.busbw > 0) rate.points.push_back(rate_point(run, table, one));
    }
    const Fit fit = fit_of(run, curve.first());
    const double factor = curve.largest().busbw / curve.largest().algbw;
    const auto add = [](Chart& chart, ChartSeries points, ChartSeries line) {
        chart.series.push_back(std::move(points));
        if (!line.points.empty()) chart.series.push_back(std::move(line));
    };
    add(times, std::move(time), fitted_line(curve, fit, colour, [](double, double us) { return us; }));
    add(rates, std::move(rate),
        fitted_line(curve, fit, colour, [&](double bytes, double us) { return factor * bytes / us / 1e3; }));
}

// In place only where nothing is out of place: one beside the other no reader would tell them apart.
std::vector<NamedCurve> drawn_curves(const Run& run) {
    const auto all = model::curves_of(run);
    std::vector<NamedCurve> drawn;
    std::vector<Message> firsts;
    for (const auto& curve : all) {
        const bool other = std::ranges::any_of(all, [&](const Curve& one) {
            return !one.first().in_place() && one.first().op == curve.first().op;
        });
        if ((curve.first().in_place() && other) || curve.largest().bytes <= 0)
            continue;  // a barrier has no size
        drawn.push_back({run.find_table("messages"), curve});
        firsts.push_back(curve.first());
    }
    for (auto& one : drawn) one.name = model::curve_name(one.curve.first(), firsts);
    if (const Table* buckets = run.find_table("buckets"); buckets != nullptr) {
        Curve curve{model::messages_in(*buckets)};
        std::ranges::stable_sort(curve.messages, {}, &Message::bytes);
        if (!curve.messages.empty()) drawn.push_back({buckets, std::move(curve), "gradient buckets"});
    }
    return drawn;
}

Words time_caption(const Run& run, std::size_t left_out) {
    Words words{fmt::format("Run {}: medians of ", run.id), definition(vocabulary::kCallTime),
                fmt::format(" over calls with their 95 % intervals; policy: {}; over ranks: {}.",
                            cut(run.fact("collectives", "policy"), 120),
                            cut(run.fact("collectives", "average"), 120))};
    if (left_out > 0)
        append(words, {fmt::format(" {} are not drawn; the table has them.",
                                   model::counted(left_out, "more curve"))});
    return words;
}

// Times and bus bandwidths of some curves.
void add_pictures(std::vector<Figure>& figures, const Run& run, const std::vector<NamedCurve>& curves,
                  std::size_t begin) {
    Chart times = empty_chart("collectives_time", "Time of a call", "time of a call [us]");
    Chart rates = empty_chart("collectives_busbw", "Bus bandwidth", "bus bandwidth [GB/s]");
    for (std::size_t i = begin; i < std::min(curves.size(), begin + kMostCurves); ++i)
        add_curve(times, rates, run, curves[i]);
    if (begin > 0)
        for (Chart* chart : {&times, &rates}) chart->name += fmt::format("_{}", begin / kMostCurves + 1);
    figures.push_back({times, time_caption(run, curves.size() - std::min(curves.size(), kMostDrawn)), {}});
    figures.push_back({rates, {definition(vocabulary::kBusBandwidth), " of the same calls."}, {}});
}

std::vector<Figure> pictures_of(const Run& run) {
    const auto curves = drawn_curves(run);
    std::vector<Figure> figures;
    for (std::size_t i = 0; i < std::min(curves.size(), kMostDrawn); i += kMostCurves)
        add_pictures(figures, run, curves, i);
    std::erase_if(figures, [](const Figure& figure) { return figure.chart.empty(); });
    if (figures.empty()) return figures;
    figures.front().tables = {number_table(figures.front().chart)};
    if (auto table = stored_table(run, "messages", "All messages"); !table.rows.empty())
        figures.front().tables.push_back(std::move(table));
    return figures;
}

std::vector<NumberTable> tables_of(const Run& run) {
    std::vector<NumberTable> tables;
    for (const auto& [name, title] :
         {std::pair{"fits", "Fits: a call of size S takes latency + S / bandwidth"},
          {"guidelines", "What a good library keeps"},
          {"nonblocking", "What started operations hide"},
          {"buckets", "Gradient buckets"},
          {"clocks", "Clocks, and who came late"}})
        if (auto table = stored_table(run, name, title); !table.rows.empty())
            tables.push_back(std::move(table));
    return tables;
}

}  // namespace

std::vector<CollectiveFigures> collective_figures(const Source& source, std::size_t most) {
    std::vector<const model::Group*> groups;
    for (const model::Group* group : model::recent_groups(source.grouped, "comm", SIZE_MAX))
        if (group->valid()) groups.push_back(group);
    std::ranges::stable_sort(
        groups, [](const model::Group* a, const model::Group* b) { return a->last_utc > b->last_utc; });
    if (groups.size() > most) groups.resize(most);
    const auto titles = model::group_titles(groups);
    std::vector<CollectiveFigures> all;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const Run run = source.load(groups[i]->newest.id);
        const auto ranks = model::counted(groups[i]->ranks, "rank");
        all.push_back(
            {fmt::format("{} on {}", cut(titles[i], 200), ranks), pictures_of(run), tables_of(run)});
        for (auto& figure : all.back().figures) {
            figure.chart.title += fmt::format(", {}", ranks);
            if (i > 0) figure.chart.name += fmt::format("_run_{}", i + 1);
        }
    }
    return all;
}

}  // namespace ranklab::report::figures
