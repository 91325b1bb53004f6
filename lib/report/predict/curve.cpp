#include "report/predict/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "stats/interval.hpp"

namespace ranklab::report::predict {
namespace {

using forecast::CurveForecast;
using forecast::Estimate;
using forecast::Scaling;

constexpr const char *kMemory = "memory_per_rank_bytes", *kWidest = "width_from",
                     *kMeasured = "measured", *kForecast = "forecast";  // of the column `what`
constexpr double kMostEfficiency = 1.1;                                 // above it, a caveat

// By forecast::Doubt: its name, and what makes an interval wide.
constexpr std::pair<const char*, const char*> kDoubts[] = {
    {"noise", "the scatter between runs"},
    {"curve", "which curve the points follow"},
    {"discrepancy", "the curve may stray from all models"},
    {"crossing", "what going from one node to several costs"}};

const auto& words_of(const CurveForecast& one) {
    return kDoubts[base::number_of(one.widest)];
}

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

bool is_refused(const Row& row) {
    return row.cells[1].text != kMeasured && row.cells[1].text != kForecast;
}

constexpr double kPart = 4;  // forecasts use points up to the largest scale / kPart

std::string kind_of(const forecast::ScalingCurve& curve) {
    return fmt::format("{}, {}", name_of(curve.scaling),
                       forecast::kWorks[static_cast<std::size_t>(curve.work)]);
}

double logarithmic(const std::vector<forecast::CurvePoint>& points, double ranks) {
    std::vector<stats::LinePoint> logs;
    for (const auto& point : points) logs.push_back({std::log2(point.ranks), point.times_s[0]});
    const auto line = stats::fit_line(logs);
    return line.alpha + line.beta * std::log2(ranks);
}

// The row of one curve: its forecast of the farthest point within reach, or of the next one.
Row row_of(const std::string& name, const forecast::ScalingCurve& curve,
           const forecast::Sources& sources) {
    const auto& points = curve.points;
    auto measured = curve;
    auto& used = measured.points;
    std::erase_if(used,
                  [&](const auto& point) { return kPart * point.ranks > points.back().ranks; });
    Row row{{name, kind_of(curve), "not ahead", used.size(),
             name_of(forecast::Refusal::too_few_points)}};
    if (used.empty()) return row;
    std::size_t to = used.size();
    while (to + 1 < points.size() && points[to + 1].ranks <= forecast::kReach * used.back().ranks)
        ++to;
    const forecast::CurvePoint &last = used.back(), &target = points[to];
    if (last.ranks <= curve.per_node && curve.per_node < target.ranks) row.cells[2] = "ahead";
    const auto prior = sources.prior(curve.scaling, curve.work, curve.source);
    const auto found = forecast_curve(measured, prior, {target.ranks}).front();
    row.cells[4] = found.refusal == forecast::Refusal::none ? "" : name_of(found.refusal);
    if (found.refusal != forecast::Refusal::none) return row;
    const auto error = [&](double time) { return time / target.times_s[0] - 1; };
    const auto& [time, interval] = found.estimate;
    const double ideal = curve.scaling == forecast::Scaling::weak ? 1 : last.ranks / target.ranks;
    row.cells.insert(row.cells.end(),
                     {target.ranks, Cell(error(time), {error(interval.low), error(interval.high)}),
                      error(last.times_s[0] * ideal), error(logarithmic(used, target.ranks))});
    return row;
}

// The summary of some rows of curves.
Row summary_of(const Frame& curves, const Places& rows, const std::string& kind,
               const std::string& crossing) {
    std::vector<double> errors[3], widths;  // errors of the forecast, and of the two baselines
    double covered = 0;
    std::map<std::string, int> refused;
    for (const std::size_t row : rows) {
        const auto& cells = curves.rows[row].cells;
        if (!cells[4].empty()) {
            ++refused[cells[4].text];
            continue;
        }
        for (std::size_t i = 0; i < 3; ++i) errors[i].push_back(std::abs(cells[6 + i].number));
        const auto& [low, high] = cells[6].interval;
        widths.push_back((1 + high) / (1 + low));
        covered += low <= 0 && 0 <= high ? 1 : 0;
    }
    std::vector<std::string> why;
    for (const auto& [code, count] : refused) why.push_back(fmt::format("{} {}", count, code));
    const auto median = [](const auto& of) { return stats::quantile(of, 0.5); };
    return {{kind, crossing, rows.size(), widths.size(), median(errors[0]),
             std::fmin(median(errors[1]), median(errors[2])), covered / base::real(widths.size()),
             median(widths), base::join(why, ", ")}};
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
    for (const auto& point : measured.points)
        frame.rows.push_back(row_of(
            measured, {.ranks = point.ranks, .nodes = point.nodes, .estimate = {median_of(point)}},
            kMeasured));
    for (std::size_t i = 0; i < measured.caveats.size(); ++i)
        std::ranges::copy(measured.caveats[i], std::back_inserter(frame.rows[i].caveats));
    const CurveForecast* farthest = nullptr;
    for (const auto& one : forecasts) {
        const auto& wanted = one.ranks_to_measure;
        if (one.refusal != forecast::Refusal::none) {
            const std::string why = sentence(Refusal{one.refusal, run_at(measured, wanted)});
            frame.rows.push_back(row_of(measured, one, name_of(one.refusal)));
            frame.rows.back().caveats = {{CaveatKind::said, why}};
            found.next_ranks = std::max(found.next_ranks, std::ranges::max(wanted));
            continue;
        }
        frame.rows.push_back(row_of(measured, one, kForecast));
        if (farthest == nullptr || one.ranks > farthest->ranks) farthest = &one;
    }
    if (frame.has_numbers(frame.find(kMemory)))
        frame.notes.emplace_back(
            "tensors/rank: an estimate; a rank needs more memory (train --dry-run)");
    frame.drop_empty_columns();
    if (farthest == nullptr) return found;
    if (farthest->nodes == 0)
        frame.notes.emplace_back(
            "nodes unknown: the intervals allow for a first crossing between nodes; "
            "--ranks-per-node or a column nodes would say");
    frame.notes.push_back(fmt::format("most of the interval at {:.0f} ranks ({}): {}",
                                      farthest->ranks, percent_text(100 * farthest->share),
                                      words_of(*farthest).second));
    if (const auto next = next_point(measured, prior, *farthest)) {
        found.next_ranks = std::max(found.next_ranks, next->ranks);
        found.after = shown(measured, farthest->ranks, {1, next->after}).interval;
        found.next = fmt::format("{}   # interval expected at {:.0f} ranks: {} .. {}",
                                 run_at(measured, {next->ranks}), farthest->ranks,
                                 readable(found.after.low, unit), readable(found.after.high, unit));
    }
    return found;
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
        const auto marks = sentences_of(frame.rows[i].caveats);
        auto& one = all[what == kMeasured ? what : "forecasts"].emplace_back();
        one = {{"ranks", frame.at(i, "ranks").number},
               {"value", value.number},
               {"low", value.interval.low},
               {"high", value.interval.high}};
        for (const char* name : {"speedup", "efficiency", kMemory, "nodes"})
            one[name] = frame.at(i, name).number;
        one[kWidest] = frame.at(i, kWidest).text;
        one["refused"] = refused;
        one["reason"] = refused ? marks.front() : "";
        one["why"] = refused ? what : "none";
        one["marks"] = refused ? std::vector<std::string>() : marks;
    }
    all["notes"] = frame.notes;
    all["next"] = next;
    all["next_low"] = after.low;
    all["next_high"] = after.high;
    return json_line(all) + "\n";
}

Validation validate(const std::vector<model::PublishedCurve>& curves) {
    Validation all;
    all.curves = {.title =
                      "Published curves, forecast from a quarter of their scale at most with "
                      "their source left out: relative errors of the time",
                  .columns = columns_of(
                      "curve* | kind | crossing | points | refused | to | error+- [1] | "
                      "same_efficiency [1] last efficiency kept | a_plus_c_log_p [1] a + c log p")};
    all.kinds = {.title = "By kind, and by whether the first step to several nodes is ahead",
                 .columns = columns_of(
                     "kind* | crossing* | curves | answered | median_error [1] median error | "
                     "baseline_error [1] better baseline's | covered [1] | high_over_low [1] "
                     "median high/low | refused | sources | factor+- [1]"),
                 .notes = {"factor: a first crossing's, as learned from these sources"}};
    const auto sources = sources_of(curves);
    for (const auto& curve : curves)
        all.curves.rows.push_back(row_of(curve.name, curve.times(), sources));
    for (const auto& [keys, of] : all.curves.group_by({1, 2})) {
        auto& row = all.kinds.rows.emplace_back(summary_of(all.curves, of, keys[0], keys[1]));
        const auto curve = curves[of.front()].times();
        const auto prior = sources.prior(curve.scaling, curve.work);
        row.cells.insert(row.cells.end(), {prior.sources, prior.crossing_factor()});
    }
    for (const auto& [keys, of] : all.curves.group_by({2}))
        all.kinds.rows.push_back(summary_of(all.curves, of, "all", keys[0]));
    for (const auto& [keys, of] : all.curves.group_by({}))
        all.kinds.rows.push_back(summary_of(all.curves, of, "all", "all"));
    return all;
}

}  // namespace ranklab::report::predict
