#include "report/predict/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace ranklab::report::predict {
namespace {

using forecast::Estimate;
using forecast::Scaling;

constexpr const char *kMemory = "memory_per_rank_bytes", *kMeasured = "measured",
                     *kForecast = "forecast";  // of the column `what`
constexpr double kLeastWeight = 0.005;         // the note names models from this weight on

// The command that measures these rank counts.
std::string run_at(const Measured& measured, const std::vector<double>& ranks) {
    const std::string list = fmt::format("{:.0f}", fmt::join(ranks, ","));
    const bool again = std::ranges::any_of(measured.points, [&](const auto& point) {
        return std::ranges::find(ranks, point.ranks) != ranks.end();
    });
    if (measured.sweep.empty()) return list + " ranks" + (again ? " again" : "");
    // A sweep skips points that have runs with its label; another label makes it repeat them.
    return fmt::format("{} --ranks {} --repeat 3{}", measured.sweep, list,
                       again ? " --label again" : "");
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
Row row_of(const Measured& measured, double ranks, const std::string& what, const Estimate& time) {
    const bool weak = measured.scaling == Scaling::weak;
    const auto& first = measured.points.front();
    const double growth = ranks / first.ranks,
                 speedup = (weak ? growth : 1) * median_of(first) / time.time_s,
                 samples = std::ceil(measured.batch / (weak ? 1 : ranks)),
                 memory = measured.memory_fixed_bytes + measured.memory_bytes_per_sample * samples;
    return {{ranks, what, shown(measured, ranks, time), speedup, speedup / growth, memory}};
}

bool is_refused(const Row& row) {
    return row.cells[1].text != kMeasured && row.cells[1].text != kForecast;
}

std::string models_note(const forecast::CurveForecasts& found) {
    std::vector<std::string> words;
    for (const auto& [name, weight] : found.weights)
        if (weight >= kLeastWeight)
            words.push_back(fmt::format("{} {}", name, percent_text(100 * weight)));
    return "weights of the models: " + base::join(words, ", ");
}

}  // namespace

Prediction predict(const Measured& measured, const std::vector<double>& ranks, bool force) {
    const auto found = forecast::forecast_curve(measured.points, measured.scaling, ranks,
                                                measured.node_holds, force);
    Frame frame{.title = fmt::format("{}, {} scaling", measured.title, name_of(measured.scaling)),
                .columns = {{.name = "ranks", .role = Role::key},
                            {.name = "what", .role = Role::key, .head = ""},
                            {.name = measured.quantity,
                             .unit = measured.is_rate ? "1" : "s",
                             .interval = true,
                             .head = without_unit(measured.quantity)},
                            {.name = "speedup", .unit = "1"},
                            {.name = "efficiency", .unit = "1", .head = "efficiency/rank"},
                            {.name = kMemory, .unit = "B", .head = "tensors/rank"}}};
    for (const auto& point : measured.points)
        frame.rows.push_back(row_of(measured, point.ranks, kMeasured, {median_of(point)}));
    for (std::size_t i = 0; i < measured.caveats.size(); ++i)
        frame.rows[i].caveats = measured.caveats[i];
    for (const auto& one : found.all) {
        const bool made = one.refusal == forecast::Refusal::none;
        frame.rows.push_back(row_of(measured, one.ranks, made ? kForecast : name_of(one.refusal),
                                    made ? one.estimate : Estimate()));
        if (!made)
            frame.rows.back().caveats = {
                {CaveatKind::said,
                 sentence(Refusal{one.refusal, run_at(measured, one.ranks_to_measure)})}};
    }
    frame.drop_empty_columns();
    frame.notes = measured.notes;
    if (frame.columns.back().name == kMemory)
        frame.notes.emplace_back(
            "tensors/rank: estimated; ranks need more memory (train --dry-run)");
    if (std::ranges::any_of(found.all,
                            [](const auto& one) { return one.refusal == forecast::Refusal::none; }))
        frame.notes.push_back(models_note(found));
    Prediction result{std::move(frame), measured.scaling, ""};
    if (found.next) {
        result.next_ranks = found.next->ranks;
        result.next = fmt::format("{}   # would narrow the interval at {:.0f} ranks by about {}",
                                  run_at(measured, {found.next->ranks}), found.next->target,
                                  percent_text(100 * found.next->narrowing));
    }
    return result;
}

Frame for_people(Frame frame) {
    for (auto& row : frame.rows)
        if (is_refused(row)) row.cells[1] = "no forecast";
    return frame;
}

std::string json_of(const Prediction& prediction) {
    const auto& [frame, scaling, next, next_ranks] = prediction;
    nlohmann::ordered_json all{{"quantity", frame.columns[2].name},
                               {"unit", frame.columns[2].unit},
                               {"scaling", name_of(scaling)}};
    for (std::size_t i = 0; i < frame.rows.size(); ++i) {
        const std::string& what = frame.at(i, "what").text;
        const Cell& value = frame.at(i, 2);
        const bool refused = is_refused(frame.rows[i]);
        std::vector<std::string> marks;
        for (const auto& caveat : frame.rows[i].caveats) marks.push_back(sentence(caveat));
        all[what == kMeasured ? what : "forecasts"].push_back(
            {{"ranks", frame.at(i, "ranks").number},
             {"value", value.number},
             {"low", value.interval.low},
             {"high", value.interval.high},
             {"speedup", frame.at(i, "speedup").number},
             {"efficiency", frame.at(i, "efficiency").number},
             {"memory_per_rank_bytes", frame.at(i, kMemory).number},
             {"refused", refused},
             {"reason", refused ? marks.front() : ""},
             {"why", refused ? what : "none"},
             {"marks", refused ? std::vector<std::string>() : marks}});
    }
    all["notes"] = frame.notes;
    all["next"] = next;
    return json_line(all) + "\n";
}

}  // namespace ranklab::report::predict
