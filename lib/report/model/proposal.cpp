#include "report/model/proposal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "options/sections.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::model {
namespace {

constexpr std::size_t kFewestCurves = 5;  // fewer say little of what is usual
constexpr double kSameFactor = 0.01;      // the most by which logarithms of factors differ

stats::RatioEstimate grown(const stats::RatioEstimate& from, double factor, double power = 1) {
    const auto f = [&](double ratio) { return std::pow(ratio * factor, power); };
    return {f(from.ratio), {f(from.ci.low), f(from.ci.high)}};
}

Centre centre_in(const options::Section& section) {
    const auto text = [&](std::string_view name) {
        for (const auto& [key, value] : section.settings)
            if (key == name) return value;
        return std::string();
    };
    const auto number = [&](std::string_view name) {
        return base::number_in(text(name)).value_or(stats::kNone);
    };
    const auto figure = text("figure");
    const double counts = number("node-counts");
    Centre centre{section.name,
                  text("title"),
                  figure == "per-doubling" ? Asks::speedup_per_doubling
                  : figure == "over-base"  ? Asks::efficiency_over_base
                                           : Asks::nothing,
                  number("threshold"),
                  counts > 0 ? static_cast<std::size_t>(counts) : 0,
                  text("base"),
                  text("unit"),
                  text("says"),
                  text("url")};
    if ((centre.asks == Asks::nothing) != std::isnan(centre.threshold))
        throw base::OptionError(
            fmt::format("[{}] needs a figure, per-doubling or over-base, with its threshold, or "
                        "neither",
                        section.name));
    return centre;
}

bool is_comparable(const PublishedCurve& curve) {
    const bool level = curve.first_beyond_one_node > 0 || curve.caution == CurveCaution::one_level;
    return level && curve.caution != CurveCaution::no_communication &&
           curve.caution != CurveCaution::contradicts && curve.quantity != CurveQuantity::bandwidth;
}

// The efficiencies of the comparable curves at that factor.
std::vector<double> published_at(const std::vector<PublishedCurve>& published, bool weak,
                                 bool beyond, double factor) {
    std::vector<double> found;
    for (const auto& curve : published)
        for (std::size_t i = 1; i < curve.x.size(); ++i)
            if (curve.weak == weak && is_comparable(curve) && curve.beyond_one_node(i) == beyond &&
                std::abs(std::log(curve.x[i] / curve.x[0] / factor)) < kSameFactor)
                found.push_back(curve.efficiency(i));
    return found;
}

Row placed(const ScaledCurve& curve, const ScaledPoint& point, double factor,
           const std::vector<double>& others) {
    const double own = point.efficiency.ratio;
    Row row{{curve.title, curve.weak ? "weak" : "strong", Cell(point.width), point.nodes,
             Cell(factor), Cell(own, point.efficiency.ci), others.size()},
            {}};
    if (others.size() < kFewestCurves) {
        row.cells.insert(row.cells.end(), {{}, {}, {}, {}, "too few published"});
        return row;
    }
    const auto at = [&](double q) { return stats::quantile(others, q); };
    const auto worse = std::ranges::count_if(others, [&](double y) { return y < own; });
    row.cells.insert(row.cells.end(), {at(0.1), at(0.5), at(0.9), Cell(worse),
                                       own < at(0.1)   ? "below most"
                                       : own > at(0.9) ? "above most"
                                                       : "usual"});
    return row;
}

}  // namespace

std::vector<ScaledPoint> points_of(const Groups& groups, const results::ResultFile& file,
                                   const Scaling& scaling, const Curve& curve, bool weak) {
    std::vector<ScaledPoint> points;
    for (std::size_t i = 0; i < curve.groups.size(); ++i) {
        const Group& group = groups.all[curve.groups[i]];
        const ScalingRow& row = scaling.rows[curve.groups[i]];
        ScaledPoint point{
            .group = curve.groups[i],
            .width = curve.widths[i],
            .n = group.cores.known() ? base::real(group.cores.count) : curve.widths[i],
            .nodes = node_count(file.read(groups.newest(group), results::Detail::settings)),
            .time = groups.estimate(group, common_time(groups, group, group))};
        const auto over = [&](const ScaledPoint& other) {
            return grown(speedup_of(groups, groups.all[other.group], group),
                         point.work / other.work);
        };
        if (i > 0) {
            point.work = (weak ? row.weak : row.strong).work;
            point.speedup = over(points.front());
            point.efficiency = (weak ? row.weak : row.strong).efficiency;
        }
        const auto below = std::ranges::find_if(points.rbegin(), points.rend(),
                                                [&](const auto& one) { return one.n < point.n; });
        if (below != points.rend())
            point.per_doubling = grown(over(*below), 1, 1 / std::log2(point.n / below->n));
        points.push_back(point);
    }
    return points;
}

std::vector<ScaledCurve> curves_over_ranks(const Groups& groups, const results::ResultFile& file) {
    std::vector<ScaledCurve> all;
    if (groups.place_of("ranks") < groups.keys.size()) {
        const Scaling scaling = scaling_over(groups, "ranks");
        for (const bool weak : {false, true})
            for (const auto& curve : curves_of(groups, scaling, weak))
                all.push_back({curve.title, weak, points_of(groups, file, scaling, curve, weak)});
    }
    if (all.empty())
        throw base::OptionError(
            "these runs have no scaling over ranks; ranklab sweep train --ranks 1,2,4 measures it");
    return all;
}

Centre centre_of(const std::filesystem::path& path, const std::string& name) {
    if (path.empty())
        throw base::EnvironmentError(
            "configs/centres.ini is neither in share/ranklab beside bin nor in the source tree");
    std::vector<std::string> names;
    for (const auto& section : options::read_sections(path.string())) {
        if (section.name == name) return centre_in(section);
        names.push_back(section.name);
    }
    throw base::OptionError(fmt::format("no centre '{}' is known, but {}",
                                        base::printable(name, 40), base::join(names, ", ")),
                            {"centre"});
}

Reach reach_of(const std::vector<ScaledPoint>& points, const Centre& centre) {
    const auto figure = centre.asks == Asks::speedup_per_doubling ? &ScaledPoint::per_doubling
                                                                  : &ScaledPoint::efficiency;
    if (centre.asks == Asks::nothing)
        return {points.size() - 1, Verdict::no_threshold, points.back().*figure};
    Reach reach{0, Verdict::reaches_nothing, {}};
    for (std::size_t i = 1; i < points.size(); ++i) {
        if (points[i].n <= points.front().n) continue;  // the base in another way
        const auto& found = points[i].*figure;
        if (!(found.ratio >= centre.threshold)) break;
        const bool certain = found.ci.low >= centre.threshold;
        reach = {i,
                 std::isnan(found.ci.low) ? Verdict::reaches_single_runs
                 : certain                ? Verdict::reaches
                                          : Verdict::reaches_undecided,
                 found};
    }
    return reach;
}

Frame placed_among(const std::vector<PublishedCurve>& published,
                   const std::vector<ScaledCurve>& curves) {
    const auto ratio = [](const char* name, const char* head, bool interval = false) {
        return Column{.name = name, .unit = "1", .interval = interval, .head = head};
    };
    Frame frame;
    frame.columns = {{.name = "series", .key = true},
                     {.name = "kind", .key = true},
                     {.name = "ranks", .key = true},
                     {.name = "nodes"},
                     {.name = "factor"},
                     ratio("efficiency", "", true),
                     {.name = "published_curves", .head = "published"},
                     ratio("published_p10", "their 10 %"),
                     ratio("published_median", "their median"),
                     ratio("published_p90", "their 90 %"),
                     {.name = "better_than", .head = "better than"},
                     {.name = "place"}};
    for (const auto& curve : curves)
        for (const auto& point : curve.points) {
            const double factor = point.n / curve.points.front().n;
            if (factor > 1 && !std::isnan(point.efficiency.ratio))
                frame.rows.push_back(
                    placed(curve, point, factor,
                           published_at(published, curve.weak, point.nodes > 1, factor)));
        }
    frame.notes = {
        "efficiency: over the first point of each curve; published: curves of the same kind at the "
        "same factor of cores, GPUs or nodes, on one node where this point is, on several where it "
        "is",
        "usual: between their 10 % and 90 % quantiles; fewer than 5 curves have none"};
    return frame;
}

}  // namespace ranklab::report::model
