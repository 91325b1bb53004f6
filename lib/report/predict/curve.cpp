#include "report/predict/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/numbers.hpp"

namespace ranklab::report::predict {
namespace {

using forecast::CurveForecast;
using forecast::Estimate;
using forecast::Scaling;

constexpr const char *kMemory = "memory_per_rank_bytes", *kWidest = "width_from",
                     *kMeasured = "measured", *kForecast = "forecast";  // of the column `what`
constexpr std::size_t kQuantity = 2;     // column of the times or rates
constexpr double kMostEfficiency = 1.1;  // above it, a caveat

// By forecast::Doubt: its name, and what makes an interval wide.
constexpr std::pair<const char*, const char*> kDoubts[] = {
    {"noise", "the scatter between runs"},
    {"curve", "which curve the points follow"},
    {"discrepancy", "the curve may stray from all models"},
    {"crossing", "what going from one node to several costs"}};

const auto& words_of(const CurveForecast& one) {
    return kDoubts[base::number_of(one.widest)];
}

// The command that measures these rank counts, with comments.
std::string run_at(const Measured& measured, const std::vector<double>& ranks,
                   std::vector<std::string> comments = {}) {
    const std::string list = fmt::format("{:.0f}", fmt::join(ranks, ","));
    const bool again = std::ranges::any_of(measured.points, [&](const auto& point) {
        return std::ranges::find(ranks, point.ranks) != ranks.end();
    });
    if (std::ranges::max(ranks) > std::thread::hardware_concurrency())
        comments.emplace_back("more ranks than this host has CPUs");
    const std::string comment = comments.empty() ? "" : "   # " + base::join(comments, "; ");
    if (measured.sweep.empty()) return list + " ranks" + (again ? " again" : "") + comment;
    // A sweep skips points that have runs with its label; another label makes it repeat them.
    return fmt::format("{} --ranks {} --repeat 3{}{}", measured.sweep, list,
                       again ? " --label again" : "", comment);
}

// Converts a time to the quantity of the points, which may be a rate.
Cell shown(const Measured& measured, double ranks, const Estimate& time) {
    const auto& [low, high] = time.interval;
    if (!measured.is_rate) return {time.time_s, time.interval};
    const double work = measured.scaling == Scaling::weak ? ranks : 1;
    return {work / time.time_s, {work / high, work / low}};
}

// The shown time of a point. The curve itself goes through geometric means.
double median_of(const forecast::CurvePoint& point) {
    return stats::quantile(point.times_s, 0.5);
}

// Speedup and efficiency compare the rate of all ranks with the first point's.
Row row_of(const Measured& measured, const CurveForecast& one, const std::string& what) {
    const bool weak = measured.scaling == Scaling::weak;
    const auto& first = measured.points.front();
    const double growth = one.ranks / first.ranks,
                 speedup = (weak ? growth : 1) * median_of(first) / one.estimate.time_s,
                 samples = std::ceil(measured.batch / (weak ? 1 : one.ranks)),
                 memory = measured.memory_fixed_bytes + measured.memory_bytes_per_sample * samples;
    Row row{{one.ranks, what, shown(measured, one.ranks, one.estimate), speedup, speedup / growth,
             memory, one.nodes > 0 ? one.nodes : stats::kNone,
             what == kForecast ? words_of(one).first : ""}};
    if (speedup / growth > kMostEfficiency)
        row.caveats.push_back({CaveatKind::too_efficient, fmt::format("{}", kMostEfficiency)});
    return row;
}

}  // namespace

Prediction predict(const Measured& measured, const forecast::Sources& sources,
                   const std::vector<double>& ranks, bool force) {
    const auto prior = sources.prior(measured.scaling, measured.work);
    const auto forecasts = forecast::forecast_curve(measured, prior, ranks, force);
    const char* const unit = measured.is_rate ? "1" : "s";
    Prediction found{.scaling = measured.scaling};
    auto& frame = found.frame;
    frame = {.title = fmt::format("{}, {} scaling", measured.title, name_of(measured.scaling)),
             .columns = columns_of(fmt::format(
                 "ranks* | what* | {}+- [{}] {} | speedup [1] | efficiency [1] efficiency/rank | "
                 "{} [B] tensors/rank | nodes | {} width from",
                 measured.quantity, unit, without_unit(measured.quantity), kMemory, kWidest)),
             .notes = measured.notes};
    for (const auto& point : measured.points) {
        const Estimate median{median_of(point)};
        frame.rows.push_back(row_of(measured, {point.ranks, {}, point.nodes, median}, kMeasured));
    }
    for (std::size_t i = 0; i < measured.caveats.size(); ++i)
        std::ranges::copy(measured.caveats[i], std::back_inserter(frame.rows[i].caveats));
    const CurveForecast* farthest = nullptr;
    for (const auto& one : forecasts) {
        const bool refused = one.refusal != forecast::Refusal::none;
        auto& row = frame.rows.emplace_back(
            row_of(measured, one, refused ? name_of(one.refusal) : kForecast));
        if (refused)
            row.caveats = {{CaveatKind::said,
                            sentence({one.refusal, run_at(measured, one.ranks_to_measure)})}};
        else if (farthest == nullptr || one.ranks > farthest->ranks)
            farthest = &one;
    }
    if (frame.has_numbers(frame.find(kMemory)))
        frame.notes.emplace_back(
            "tensors/rank: an estimate; a rank needs more memory (train --dry-run)");
    if (farthest == nullptr) return found;
    if (farthest->nodes == 0)
        frame.notes.emplace_back(
            "nodes unknown, so the intervals allow for a first crossing between nodes: give "
            "--ranks-per-node or a column nodes");
    frame.notes.push_back(fmt::format("most of the interval at {:.0f} ranks ({}): {}",
                                      farthest->ranks, percent_text(100 * farthest->share),
                                      words_of(*farthest).second));
    if (const auto next = next_point(measured, prior, *farthest)) {
        found.after = shown(measured, farthest->ranks, {1, next->after}).interval;
        found.next = run_at(
            measured, {next->ranks},
            {fmt::format("interval expected at {:.0f} ranks: {} .. {}", farthest->ranks,
                         readable(found.after.low, unit), readable(found.after.high, unit))});
    }
    return found;
}

Frame for_people(Frame frame) {
    for (auto& row : frame.rows)
        if (!row.at(kQuantity).is_number()) row.cells[1] = "no forecast";
    return frame;
}

std::string json_of(const Prediction& prediction) {
    const auto& [frame, scaling, next, after] = prediction;
    nlohmann::ordered_json all{{"quantity", frame.columns[kQuantity].name},
                               {"unit", frame.columns[kQuantity].unit},
                               {"scaling", name_of(scaling)}};
    auto rows = json_rows(frame);
    for (std::size_t i = 0; i < frame.rows.size(); ++i) {
        const std::string& what = frame.rows[i].cells[1].text;
        const Cell& value = frame.at(i, kQuantity);
        const bool refused = !value.is_number();
        std::vector<std::string> marks;
        for (const auto& caveat : frame.rows[i].caveats) marks.push_back(sentence(caveat));
        rows[i].update({{"value", value.number},
                        {"low", value.interval.low},
                        {"high", value.interval.high},
                        {"refused", refused},
                        {"reason", refused ? marks.front() : ""},
                        {"why", refused ? what : "none"},
                        {"marks", refused ? std::vector<std::string>() : marks}});
        all[what == kMeasured ? what : "forecasts"].push_back(rows[i]);
    }
    all["notes"] = frame.notes;
    all["next"] = next;
    all["next_low"] = after.low;
    all["next_high"] = after.high;
    return json_line(all) + "\n";
}

}  // namespace ranklab::report::predict
