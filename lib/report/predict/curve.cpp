#include "report/predict/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "report/frame/readable.hpp"

namespace ranklab::report::predict {
namespace {

using forecast::CurveFit;
using forecast::Scaling;

// "1,2,4,8": numbers of ranks for a command.
std::string list_of(const std::set<double>& ranks) {
    std::vector<std::string> words;
    for (const double one : ranks) words.push_back(fmt::format("{:.0f}", one));
    return base::join(words, ",");
}

std::string run_at(const Measured& measured, const std::set<double>& ranks) {
    if (measured.sweep.empty()) return list_of(ranks) + " ranks";
    // A sweep of the same label makes only what is missing.
    const bool again = std::ranges::any_of(
        measured.points, [&](const auto& point) { return ranks.contains(point.ranks); });
    return fmt::format("{} --ranks {} --repeat 3{}", measured.sweep, list_of(ranks),
                       again ? " --label again" : "");
}

// The run that would mend it.
Refusal refusal_of(const Measured& measured, forecast::Refusal refusal, double ranks, double jump) {
    std::set<double> wanted;
    const double largest = measured.points.back().ranks;
    switch (refusal) {
        case forecast::Refusal::none:
            return {};
        case forecast::Refusal::beyond_reach:
            wanted = {std::ceil(ranks / forecast::kReach)};
            break;
        case forecast::Refusal::one_node:
            wanted = {2 * std::max(measured.node_holds, largest),
                      4 * std::max(measured.node_holds, largest)};
            break;
        case forecast::Refusal::jump:
            wanted = {2 * jump, 4 * jump};
            break;
        case forecast::Refusal::too_few_points:
            for (double next = 2 * largest;
                 wanted.size() + measured.points.size() < forecast::kFewestPoints; next *= 2)
                wanted.insert(next);
            break;
        case forecast::Refusal::held_out_missed:
            wanted = {2 * largest, 4 * largest};
            break;
        default:
            for (const auto& point : measured.points) wanted.insert(point.ranks);
    }
    return {refusal, run_at(measured, wanted)};
}

// A time as the user's quantity.
double shown(const Measured& measured, double ranks, double time_s) {
    if (!measured.is_rate) return time_s;
    return (measured.scaling == Scaling::weak ? ranks : 1) / time_s;
}

Cell cell_of(const Measured& measured, const forecast::CurveForecast& forecast) {
    const double value = shown(measured, forecast.ranks, forecast.time_s),
                 a = shown(measured, forecast.ranks, forecast.interval.low),
                 b = shown(measured, forecast.ranks, forecast.interval.high);
    return {value, {std::min(a, b), std::max(a, b)}};
}

struct Ratios {
    double speedup = 0, efficiency = 0;
};

// Reports show medians; the curve goes through geometric means.
double median_of(const forecast::CurvePoint& point) {
    return stats::quantile(point.times_s, 0.5);
}

// Ratios of the rate of all ranks, over the first point.
Ratios ratios_of(const Measured& measured, double ranks, double time_s) {
    const auto& first = measured.points.front();
    const double growth = ranks / first.ranks, times = median_of(first) / time_s;
    if (measured.scaling == Scaling::weak) return {times * growth, times};
    return {times, times / growth};
}

// The tensors of a rank; NaN where that is not known.
double memory_of(const Measured& measured, double ranks) {
    const double samples = measured.batch / (measured.scaling == Scaling::weak ? 1 : ranks);
    return measured.memory_fixed_bytes + measured.memory_bytes_per_sample * std::ceil(samples);
}

// Powers of two up to the largest point's reach, and the measured ones again.
std::vector<double> candidates_of(const Measured& measured) {
    std::set<double> all;
    const double largest = measured.points.back().ranks;
    for (const auto& point : measured.points) all.insert(point.ranks);
    for (double ranks = largest * 2; ranks <= largest * forecast::kReach; ranks *= 2)
        all.insert(ranks);
    return {all.begin(), all.end()};
}

constexpr double kWorthIt = 0.1;  // a share of the interval

// Among those that narrow the forecast half as much as the best one, or more, the one that narrows
// most for its node-hours.
std::string next_run(const Measured& measured, const CurveFit& fit, double target) {
    const auto all = fit.candidates(candidates_of(measured), target);
    if (all.empty()) return "";
    const double most =
        std::ranges::max_element(all, {}, &forecast::Candidate::narrowing)->narrowing;
    const auto worth = [&](const forecast::Candidate& one) {
        if (one.ranks >= target || one.narrowing < most / 2) return 0.0;
        return one.narrowing / (one.ranks * fit.forecast(one.ranks).time_s);
    };
    const auto best = std::ranges::max_element(all, {}, worth);
    if (worth(*best) == 0 || best->narrowing < kWorthIt) return "";
    return fmt::format("{}   # would narrow the interval at {:.0f} ranks by about {}",
                       run_at(measured, {best->ranks}), target,
                       percent_text(100 * best->narrowing));
}

std::string models_note(const CurveFit& fit) {
    std::vector<std::pair<double, std::string>> shares;
    for (std::size_t i = 0; i < forecast::kModels; ++i)
        if (const double share = fit.weights()[i]; share >= 0.005)
            shares.emplace_back(share,
                                forecast::name_of(static_cast<forecast::Model>(i), fit.scaling()));
    std::ranges::sort(shares, std::greater());
    std::vector<std::string> words;
    for (const auto& [share, name] : shares)
        words.push_back(fmt::format("{} {}", name, percent_text(100 * share)));
    return "weights of the models: " + base::join(words, ", ");
}

std::string held_out_note(const Measured& measured, const forecast::HeldOut& held) {
    const auto cell = cell_of(measured, {held.ranks, held.forecast_s, held.interval});
    return fmt::format(
        "check: the other points forecast {} at {:.0f} ranks (99 % interval {}), measured {}",
        readable(cell.number, measured.unit), held.ranks,
        readable_interval(cell.interval, cell.number, measured.unit),
        readable(shown(measured, held.ranks, held.measured_s), measured.unit));
}

}  // namespace

Prediction predict(Measured measured, const std::vector<double>& ranks, bool force) {
    CurveFit fit(measured.points, measured.scaling, measured.node_holds);
    Prediction result{std::move(measured), std::move(fit), {}, ""};
    const Measured& of = result.measured;
    for (const double one : ranks) {
        auto found = result.fit.forecast(one);
        if (found.refusal == forecast::Refusal::none && of.has_warm_up)
            found.refusal = forecast::Refusal::warm_up_inside;
        if (found.refusal == forecast::Refusal::beyond_reach && force)
            found.refusal = forecast::Refusal::none;
        Forecast forecast{.ranks = one,
                          .refusal = refusal_of(of, found.refusal, one, result.fit.jump_at())};
        if (found.refusal == forecast::Refusal::none) {
            forecast.value = cell_of(of, found);
            const auto [speedup, efficiency] = ratios_of(of, one, found.time_s);
            forecast.speedup = speedup;
            forecast.efficiency = efficiency;
        }
        result.forecasts.push_back(std::move(forecast));
    }
    double farthest = 0;
    for (const auto& one : result.forecasts)
        if (one.refusal.why == forecast::Refusal::none) farthest = std::max(farthest, one.ranks);
    if (farthest > 0) result.next = next_run(of, result.fit, farthest);
    return result;
}

Frame frame_of(const Prediction& prediction) {
    const auto& measured = prediction.measured;
    Frame frame{.title = fmt::format("{}, {} scaling", measured.title,
                                     measured.scaling == Scaling::weak ? "weak" : "strong")};
    frame.columns = {{.name = "ranks", .key = true},
                     {.name = "what", .key = true, .head = ""},
                     {.name = measured.quantity,
                      .unit = measured.unit,
                      .interval = true,
                      .head = without_unit(measured.quantity)},
                     {.name = "speedup", .unit = "1"},
                     {.name = "efficiency", .unit = "1", .head = "efficiency/rank"},
                     {.name = "memory_per_rank_bytes", .unit = "B", .head = "memory/rank"}};
    for (const auto& point : measured.points) {
        const auto [speedup, efficiency] = ratios_of(measured, point.ranks, median_of(point));
        frame.rows.push_back(
            {{point.ranks, "measured", shown(measured, point.ranks, median_of(point)), speedup,
              efficiency, memory_of(measured, point.ranks)}});
    }
    for (const auto& one : prediction.forecasts) {
        frame.rows.push_back({{one.ranks, "forecast", one.value, one.speedup, one.efficiency,
                               memory_of(measured, one.ranks)}});
        if (one.refusal.why == Refusal::Why::none) continue;
        frame.rows.back().cells[1] = "refused";
        frame.rows.back().doubts.push_back({Mark::said, sentence(one.refusal)});
    }
    frame.drop_empty_columns();
    frame.notes = measured.notes;
    if (prediction.fit.refusal() != forecast::Refusal::too_few_points)
        frame.notes.push_back(models_note(prediction.fit));
    if (const auto& held = prediction.fit.held_out())
        frame.notes.push_back(held_out_note(measured, *held));
    return frame;
}

std::string json_of(const Prediction& prediction) {
    using Json = nlohmann::ordered_json;
    const auto& measured = prediction.measured;
    Json all{{"quantity", measured.quantity},
             {"unit", measured.unit},
             {"scaling", measured.scaling == Scaling::weak ? "weak" : "strong"},
             {"measured", Json::array()},
             {"forecasts", Json::array()},
             {"models", Json::object()}};
    for (const auto& point : measured.points)
        all["measured"].push_back({{"ranks", point.ranks},
                                   {"value", shown(measured, point.ranks, median_of(point))},
                                   {"n", point.times_s.size()},
                                   {"nodes", point.nodes}});
    for (const auto& one : prediction.forecasts) {
        const bool refused = one.refusal.why != Refusal::Why::none;
        all["forecasts"].push_back({{"ranks", one.ranks},
                                    {"value", one.value.number},
                                    {"low", one.value.interval.low},
                                    {"high", one.value.interval.high},
                                    {"speedup", one.speedup},
                                    {"efficiency", one.efficiency},
                                    {"memory_per_rank_bytes", memory_of(measured, one.ranks)},
                                    {"refused", refused},
                                    {"reason", refused ? sentence(one.refusal) : ""},
                                    {"why", name_of(one.refusal.why)}});
    }
    for (std::size_t i = 0; i < forecast::kModels; ++i)
        all["models"]
           [std::string(forecast::name_of(static_cast<forecast::Model>(i), measured.scaling))] =
               prediction.fit.weights()[i];
    if (const auto& held = prediction.fit.held_out()) {
        const Cell cell = cell_of(measured, {held->ranks, held->forecast_s, held->interval});
        all["held_out"] = {{"ranks", held->ranks},
                           {"measured", shown(measured, held->ranks, held->measured_s)},
                           {"forecast", cell.number},
                           {"low", cell.interval.low},
                           {"high", cell.interval.high}};
    }
    all["next"] = prediction.next;
    return json_line(all) + "\n";
}

}  // namespace ranklab::report::predict
