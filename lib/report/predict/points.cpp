#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/model/groups.hpp"
#include "report/model/reference.hpp"
#include "report/model/scaling.hpp"
#include "report/model/values.hpp"
#include "report/predict/curve.hpp"

namespace ranklab::report::predict {
namespace {

using forecast::CurvePoint;
using forecast::Scaling;
using stats::kNone;

// One row of a file of points. NaN: an empty or missing cell.
struct PointRow {
    double ranks = kNone, time_s = kNone, rate = kNone, low = kNone, high = kNone, nodes = kNone;

    bool is_rate() const { return std::isnan(time_s); }
    double value() const { return is_rate() ? rate : time_s; }
};
const std::map<std::string, double PointRow::*> kColumns{
    {"ranks", &PointRow::ranks}, {"time_s", &PointRow::time_s}, {"rate", &PointRow::rate},
    {"low", &PointRow::low},     {"high", &PointRow::high},     {"nodes", &PointRow::nodes}};

constexpr double kMostRanks = 1e9, kMostValue = 1e100;

PointRow row_of(const std::map<std::string, std::string>& cells) {
    PointRow row;
    for (const auto& [name, cell] : cells) {
        const auto column = kColumns.find(name);
        if (column == kColumns.end())
            throw base::HeaderError(fmt::format(
                "unknown column '{}'; columns are ranks, time_s or rate, low, high, nodes",
                base::printable(name, 40)));
        if (!cell.empty()) row.*column->second = base::number_above_0(cell);
    }
    if (!cells.contains("time_s") && !cells.contains("rate"))
        throw base::HeaderError("there is neither a column time_s nor rate");
    if (cells.contains("time_s") && cells.contains("rate"))
        throw base::HeaderError("there are columns time_s and rate: leave one of them out");
    if (std::isnan(row.value())) throw base::DataError("a row needs either time_s or rate");
    if (row.ranks != std::floor(row.ranks) || !(row.ranks <= kMostRanks))
        throw base::DataError(fmt::format("ranks must be a whole number up to {:.0e}", kMostRanks));
    if (!std::isnan(row.nodes) && (row.nodes != std::floor(row.nodes) || row.nodes > row.ranks))
        throw base::DataError("nodes must be a whole number, and not above ranks");
    for (const double value : {row.value(), row.low, row.high})
        if (value < 1 / kMostValue || value > kMostValue)
            throw base::DataError(fmt::format("{} does not lie between {} and {}", value,
                                              1 / kMostValue, kMostValue));
    if (std::isnan(row.low) != std::isnan(row.high))
        throw base::DataError("give both low and high, or neither");
    if (row.low > row.value() || row.high < row.value())
        throw base::DataError("the value does not lie between low and high");
    return row;
}

constexpr double kFalls = 1.1;        // strong scaling: the first time over the least, at least
constexpr double kHalfWidths = 1.96;  // standard deviations to each side of a 95 % interval

// Adds the row as a repeat. Rates become times of a fixed amount of work.
void add(const PointRow& row, CurvePoint& point) {
    point.ranks = row.ranks;
    point.times_s.push_back(row.is_rate() ? 1 / row.rate : row.time_s);
    const int nodes = std::isnan(row.nodes) ? point.nodes : static_cast<int>(row.nodes);
    if (point.nodes > 0 && nodes != point.nodes)
        throw base::DataError(fmt::format("{:.0f} ranks are on {} nodes here and on {} above",
                                          row.ranks, nodes, point.nodes));
    point.nodes = nodes;
    if (row.high > row.low)
        point.deviation =
            std::fmax(point.deviation, std::log(row.high / row.low) / (2 * kHalfWidths));
}

// Ranks that fit on the node of a one-node run: its CPUs / threads, or the ranks that ran if more.
double ranks_per_node(const results::Run& run) {
    const double there = base::real(run.hosts.size());
    const auto cpus = base::number_in(run.fact(fact::kLogicalCpus));
    const auto threads = base::number_in(run.setting(setting::kThreads));
    if (!cpus || run.setting(setting::kDevice) == "cuda") return there;
    return std::max(there, std::floor(*cpus / std::max(1.0, threads.value_or(1))));
}

struct Found {
    model::Curve curve;
    bool weak = false;
    std::size_t curves = 0;  // in the file
};

Found longest_curve(const model::Groups& groups, const model::Scaling& scaling,
                    std::optional<Scaling> wanted) {
    Found best;
    for (const bool weak : {true, false}) {
        if (wanted && (*wanted == Scaling::weak) != weak) continue;
        for (auto& curve : model::curves_of(groups, scaling, weak)) {
            const bool longest = curve.widths.size() >= best.curve.widths.size();
            if (longest) best = {std::move(curve), weak, best.curves};
            ++best.curves;
        }
    }
    return best;
}

}  // namespace

Measured read_points(const std::filesystem::path& path, std::optional<Scaling> scaling) {
    if (!std::filesystem::exists(path))
        throw base::OptionError(fmt::format("{} cannot be read", path.string()), {"points"});
    std::map<double, CurvePoint> points;
    bool is_rate = false;
    base::read_csv(path, [&](const base::CsvRow& cells) {
        const PointRow row = row_of(cells.cells);
        is_rate = row.is_rate();
        add(row, points[row.ranks]);
    });
    Measured found{.title = path.filename().string(),
                   .quantity = is_rate ? "rate" : "time_s",
                   .is_rate = is_rate};
    for (auto& [ranks, point] : points) found.points.push_back(std::move(point));
    const auto& first = found.points.front();
    const auto& least = *std::ranges::min_element(found.points, {}, &CurvePoint::middle);
    const bool falls = first.middle() > kFalls * least.middle();
    found.scaling = scaling.value_or(falls && !is_rate ? Scaling::strong : Scaling::weak);
    if (!scaling)
        found.notes.push_back(fmt::format("taken as {} scaling; give --scaling if that is wrong",
                                          name_of(found.scaling)));
    if (is_rate && found.scaling == Scaling::weak)
        for (auto& point : found.points)
            for (double& time : point.times_s) time *= point.ranks;
    return found;
}

Measured points_of(const model::ChosenRuns& runs, std::optional<Scaling> wanted) {
    const model::Groups groups(runs, {});
    const auto scaling = model::scaling_over(groups, "ranks");
    const auto [curve, weak, curves] = longest_curve(groups, scaling, wanted);
    if (curve.groups.empty())
        throw base::OptionError(
            fmt::format("{} has no runs of the same work on different numbers of ranks; ranklab "
                        "sweep train --ranks 1,2,4,8 measures them",
                        runs.file().path().string()),
            {"where", "scaling"});
    const auto first = curve.groups.front();
    Measured found{.title = curve.title,
                   .quantity = model::common_time(groups, first, first),
                   .scaling = weak ? Scaling::weak : Scaling::strong};
    bool same_load = true;
    results::Run run;
    for (std::size_t i = 0; i < curve.groups.size(); ++i) {
        const auto group = curve.groups[i];
        run = runs.file().read(groups.newest(group));
        const std::size_t nodes = model::node_count(run);
        found.points.push_back({.ranks = curve.widths[i],
                                .times_s = groups.values(group, found.quantity),
                                .nodes = static_cast<int>(nodes)});
        if (nodes == 1) found.per_node = std::max(found.per_node, ranks_per_node(run));
        found.caveats.push_back(scaling.table.rows[group].caveats);
        same_load = same_load && !groups.load(group).differs_from(groups.load(first));
        if (run.argv.starts_with("ranklab "))
            found.sweep = "ranklab sweep" + run.argv.substr(std::string_view("ranklab").size());
    }
    // `run` is now a run at the largest rank count.
    found.work = run.command == "train" ? forecast::Work::training
                 : run.command == "io"  ? forecast::Work::storage
                                        : forecast::Work::code;
    const auto number = [](const std::string& text) {
        return base::number_in(text).value_or(kNone);
    };
    found.memory_fixed_bytes = number(run.fact(fact::kMemoryFixed));
    found.memory_bytes_per_sample = number(run.fact(fact::kMemoryPerSample));
    found.batch = weak ? number(run.setting(setting::kBatchSize))
                       : number(run.setting(setting::kGlobalBatchSize)) /
                             base::number_in(run.setting(setting::kAccumulate)).value_or(1);
    if (!same_load)
        found.notes.emplace_back(
            "load by other processes differs between the points: the curve may follow the load");
    if (curves > 1)
        found.notes.push_back(fmt::format(
            "the longest of {} curves in the file; --where and --scaling choose another", curves));
    return found;
}

}  // namespace ranklab::report::predict
