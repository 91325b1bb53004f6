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

constexpr const char *kMemory = "memory_per_rank_bytes", *kWidest = "width_from",
                     *kMeasured = "measured",
                     *kForecast = "forecast";  // of the column `what`
constexpr double kMostEfficiency = 1.1;        // above it, a caveat

// By forecast::Doubt: its name, and what makes an interval wide.
struct DoubtWords {
    const char *name, *text;
};
constexpr DoubtWords kDoubts[] = {{"noise", "the scatter between runs"},
                                  {"curve", "which curve the points follow"},
                                  {"discrepancy", "the curve may stray from all models"},
                                  {"crossing", "what going from one node to several costs"}};

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

// Speedup and efficiency compare the rate of all ranks with the first point's. `nodes`: 0 if not
// known.
Row row_of(const Measured& measured, double ranks, const std::string& what, const Estimate& time,
           double nodes, const char* widest) {
    const bool weak = measured.scaling == Scaling::weak;
    const auto& first = measured.points.front();
    const double growth = ranks / first.ranks,
                 speedup = (weak ? growth : 1) * median_of(first) / time.time_s,
                 samples = std::ceil(measured.batch / (weak ? 1 : ranks)),
                 memory = measured.memory_fixed_bytes + measured.memory_bytes_per_sample * samples;
    Row row{{ranks, what, shown(measured, ranks, time), speedup, speedup / growth, memory,
             nodes > 0 ? nodes : stats::kNone, widest}};
    if (speedup / growth > kMostEfficiency)
        row.caveats.push_back({CaveatKind::too_efficient, fmt::format("{}", kMostEfficiency)});
    return row;
}

bool is_refused(const Row& row) {
    return row.cells[1].text != kMeasured && row.cells[1].text != kForecast;
}

const DoubtWords& words_of(forecast::Doubt doubt) {
    return kDoubts[static_cast<std::size_t>(doubt)];
}

std::string growth_note(const std::vector<double>& probability) {
    const auto most = std::ranges::max_element(probability);
    return fmt::format("likeliest cost of working together: grows with ranks^{:g} ({})",
                       forecast::kValues[forecast::kGrowth].at(
                           static_cast<std::size_t>(most - probability.begin())),
                       percent_text(100 * *most));
}

}  // namespace

Prediction predict(const Measured& measured, const forecast::Sources& sources,
                   const std::vector<double>& ranks, bool force) {
    const auto prior = sources.prior(measured.scaling, measured.work);
    const auto found = forecast::forecast_curve(measured, prior, ranks, force, true);
    Frame frame{.title = fmt::format("{}, {} scaling", measured.title, name_of(measured.scaling)),
                .columns = {{.name = "ranks", .role = Role::key},
                            {.name = "what", .role = Role::key, .head = ""},
                            {.name = measured.quantity,
                             .unit = measured.is_rate ? "1" : "s",
                             .interval = true,
                             .head = without_unit(measured.quantity)},
                            {.name = "speedup", .unit = "1"},
                            {.name = "efficiency", .unit = "1", .head = "efficiency/rank"},
                            {.name = kMemory, .unit = "B", .head = "tensors/rank"},
                            {.name = "nodes"},
                            {.name = kWidest, .head = "width from"}}};
    for (const auto& point : measured.points)
        frame.rows.push_back(
            row_of(measured, point.ranks, kMeasured, {median_of(point)}, point.nodes, ""));
    for (std::size_t i = 0; i < measured.caveats.size(); ++i)
        frame.rows[i].caveats = measured.caveats[i];
    const forecast::CurveForecast* farthest = nullptr;
    bool unknown = false;
    double most = 0;
    for (const auto& one : found.all) {
        const bool made = one.refusal == forecast::Refusal::none;
        frame.rows.push_back(row_of(measured, one.ranks, made ? kForecast : name_of(one.refusal),
                                    one.estimate, one.nodes,
                                    made ? words_of(one.widest).name : ""));
        for (const double wanted : one.ranks_to_measure) most = std::max(most, wanted);
        if (!made)
            frame.rows.back().caveats = {
                {CaveatKind::said,
                 sentence(Refusal{one.refusal, run_at(measured, one.ranks_to_measure)})}};
        else if (farthest == nullptr || one.ranks > farthest->ranks)
            farthest = &one;
        unknown = unknown || (made && one.nodes == 0);
    }
    const bool has_memory = frame.has_numbers(frame.find(kMemory));
    frame.drop_empty_columns();
    frame.notes = measured.notes;
    if (has_memory)
        frame.notes.emplace_back(
            "tensors/rank: an estimate; a rank needs more memory (train --dry-run)");
    if (unknown)
        frame.notes.emplace_back(
            "nodes unknown: the intervals allow for a first crossing between nodes; "
            "--ranks-per-node or a column nodes would say");
    if (farthest != nullptr) {
        frame.notes.push_back(fmt::format("most of the interval at {:.0f} ranks ({}): {}",
                                          farthest->ranks, percent_text(100 * farthest->share),
                                          words_of(farthest->widest).text));
        frame.notes.push_back(growth_note(found.posterior.of[forecast::kGrowth]));
    }
    Prediction result{std::move(frame), measured.scaling, "", most};
    if (found.next) {
        result.next_ranks = std::max(most, found.next->ranks);
        const auto& [at, target, after] = *found.next;
        result.after = shown(measured, target, {1, after}).interval;
        result.next = fmt::format("{}   # interval expected at {:.0f} ranks: {} .. {}",
                                  run_at(measured, {at}), target,
                                  readable(result.after.low, measured.is_rate ? "" : "s"),
                                  readable(result.after.high, measured.is_rate ? "" : "s"));
    }
    return result;
}

Frame for_people(Frame frame) {
    for (auto& row : frame.rows)
        if (is_refused(row)) row.cells[1] = "no forecast";
    return frame;
}

std::string json_of(const Prediction& prediction) {
    const auto& [frame, scaling, next, next_ranks, after] = prediction;
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
             {kMemory, frame.at(i, kMemory).number},
             {"nodes", frame.at(i, "nodes").number},
             {kWidest, frame.at(i, kWidest).text},
             {"refused", refused},
             {"reason", refused ? marks.front() : ""},
             {"why", refused ? what : "none"},
             {"marks", refused ? std::vector<std::string>() : marks}});
    }
    all["notes"] = frame.notes;
    all["next"] = next;
    all["next_low"] = after.low;
    all["next_high"] = after.high;
    return json_line(all) + "\n";
}

}  // namespace ranklab::report::predict
