#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/predict/curve.hpp"
#include "stats/interval.hpp"

namespace ranklab::report::predict {
namespace {

using forecast::CurvePoint;
using forecast::Refusal;
using forecast::ScalingCurve;

constexpr double kPart = 4;  // forecasts use points up to the largest scale / kPart

double logarithmic(const std::vector<CurvePoint>& points, double ranks) {
    std::vector<stats::LinePoint> logs;
    for (const auto& point : points) logs.push_back({std::log2(point.ranks), point.times_s[0]});
    const auto line = stats::fit_line(logs);
    return line.alpha + line.beta * std::log2(ranks);
}

// The row of one curve: its forecast of the farthest point within reach, or of the next one.
Row row_of(const std::string& name, const ScalingCurve& curve, const forecast::Sources& sources) {
    const auto& points = curve.points;
    auto measured = curve;
    auto& used = measured.points;
    std::erase_if(used,
                  [&](const auto& point) { return kPart * point.ranks > points.back().ranks; });
    Row row{{name,
             fmt::format("{}, {}", name_of(curve.scaling),
                         forecast::kWorks[static_cast<std::size_t>(curve.work)]),
             "not ahead", used.size(), name_of(Refusal::too_few_points)}};
    if (used.empty()) return row;
    std::size_t to = used.size();
    while (to + 1 < points.size() && points[to + 1].ranks <= forecast::kReach * used.back().ranks)
        ++to;
    const CurvePoint &last = used.back(), &target = points[to];
    if (last.ranks <= curve.per_node && curve.per_node < target.ranks) row.cells[2] = "ahead";
    const auto prior = sources.prior(curve.scaling, curve.work, curve.source);
    const auto found = forecast_curve(measured, prior, {target.ranks}).front();
    row.cells[4] = found.refusal == Refusal::none ? "" : name_of(found.refusal);
    if (found.refusal != Refusal::none) return row;
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

Validation validate(const std::vector<model::PublishedCurve>& curves) {
    Validation all;
    all.curves = {
        .title =
            "Relative errors of forecasts from a quarter of a curve's scale, without its source",
        .columns = columns_of("curve* | kind | crossing | points | refused | to | error+- [1] | "
                              "same_efficiency [1] last efficiency kept | "
                              "a_plus_c_log_p [1] a + c log p")};
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
