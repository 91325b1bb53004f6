#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/model/groups.hpp"
#include "report/model/scaling.hpp"
#include "report/model/values.hpp"
#include "report/predict/curve.hpp"
#include "report/predict/mechanism.hpp"

namespace ranklab::report::predict {
namespace {

using forecast::CurvePoint;
using forecast::Scaling;
using stats::kNone;

const std::set<std::string> kColumns{"ranks", "time_s", "rate", "low", "high", "nodes"};
constexpr double kMostRanks = 1e9, kMostValue = 1e100;
constexpr double kFalls = 1.1;        // strong scaling: first time / least time is above
constexpr double kHalfWidths = 1.96;  // standard deviations to each side of a 95 % interval

// Whether the file has rates, else times.
bool is_rate(const base::CsvRow& row) {
    for (const auto& [name, cell] : row.cells)
        if (!kColumns.contains(name))
            throw base::HeaderError(fmt::format("unknown column '{}'; columns are {}",
                                                base::printable(name, 40),
                                                fmt::join(kColumns, ", ")));
    if (row.cells.contains("time_s") == row.cells.contains("rate"))
        throw base::HeaderError("give one of the columns time_s and rate");
    return row.cells.contains("rate");
}

// Adds a row of the file as a repeat. Rates become times of a fixed amount of work.
void add(const base::CsvRow& row, std::map<double, CurvePoint>& points) {
    const auto number = [&](const char* column) {  // NaN: an empty or missing cell
        const auto cell = row.cells.find(column);
        return cell == row.cells.end() || cell->second.empty() ? kNone
                                                               : base::number_above_0(cell->second);
    };
    const auto check = [](bool is_right, const char* problem) {
        if (!is_right) throw base::DataError(problem);
    };
    const double ranks = number("ranks"), value = number(is_rate(row) ? "rate" : "time_s"),
                 low = number("low"), high = number("high"), nodes = number("nodes");
    check(ranks == std::floor(ranks) && ranks <= kMostRanks,
          "ranks must be a whole number up to 1e9");
    check(!std::isnan(value), "a row needs time_s or rate");
    for (const double one : {value, low, high})
        check(!(one < 1 / kMostValue || one > kMostValue),
              "times and rates must lie between 1e-100 and 1e100");
    check(std::isnan(low) == std::isnan(high), "give both low and high, or neither");
    check(!(low > value || high < value), "the value does not lie between low and high");
    auto& point = points[ranks];
    point.ranks = ranks;
    point.times_s.push_back(is_rate(row) ? 1 / value : value);
    if (high > low)
        point.deviation = std::fmax(point.deviation, std::log(high / low) / (2 * kHalfWidths));
    if (std::isnan(nodes)) return;
    check(nodes == std::floor(nodes) && nodes <= ranks,
          "nodes must be a whole number, and not above ranks");
    check(point.nodes == 0 || nodes == point.nodes,
          "these ranks are on another number of nodes in a row above");
    point.nodes = nodes;
}

// Ranks that fit on the node of a one-node run: its CPUs / threads, or the ranks that ran if more.
double ranks_per_node(const results::Run& run) {
    const double there = base::real(run.hosts.size());
    const auto cpus = base::number_in(run.fact(fact::kLogicalCpus));
    if (!cpus || run.setting(setting::kDevice) == "cuda") return there;
    return std::max(there, std::floor(*cpus / std::max(1.0, number_of(run, setting::kThreads, 1))));
}

}  // namespace

Measured read_points(const std::filesystem::path& path, std::optional<Scaling> scaling) {
    if (!std::filesystem::exists(path))
        throw base::OptionError(fmt::format("{} cannot be read", path.string()), {"points"});
    Measured found;
    std::map<double, CurvePoint> points;
    base::read_csv(path, [&](const base::CsvRow& row) {
        found.is_rate = is_rate(row);
        add(row, points);
    });
    found.title = path.filename().string();
    found.quantity = found.is_rate ? "rate" : "time_s";
    for (auto& [ranks, point] : points) found.points.push_back(std::move(point));
    const auto& first = found.points.front();
    const auto& least = *std::ranges::min_element(found.points, {}, &CurvePoint::middle);
    const bool falls = first.middle() > kFalls * least.middle();
    found.scaling = scaling.value_or(falls && !found.is_rate ? Scaling::strong : Scaling::weak);
    if (!scaling)
        found.notes.push_back(fmt::format("taken as {} scaling; give --scaling if that is wrong",
                                          name_of(found.scaling)));
    if (found.is_rate && found.scaling == Scaling::weak)
        for (auto& point : found.points)
            for (double& time : point.times_s) time *= point.ranks;
    return found;
}

Measured points_of(const model::ChosenRuns& runs, std::optional<Scaling> wanted) {
    const model::Groups groups(runs, {});
    const auto scaling = model::scaling_over(groups, "ranks");
    std::vector<std::pair<model::Curve, bool>> curves;  // and whether the scaling is weak
    for (const bool weak : {true, false})
        if (!wanted || (*wanted == Scaling::weak) == weak)
            for (auto& curve : model::curves_of(groups, scaling, weak))
                curves.emplace_back(std::move(curve), weak);
    std::ranges::stable_sort(curves, {}, [](const auto& one) { return one.first.widths.size(); });
    if (curves.empty())
        throw base::OptionError(
            fmt::format("{} has no runs of the same work on different numbers of ranks; ranklab "
                        "sweep train --ranks 1,2,4,8 measures them",
                        runs.file().path().string()),
            {"where", "scaling"});
    const auto& [curve, weak] = curves.back();
    const auto first = curve.groups.front();
    Measured found;
    found.title = curve.title;
    found.quantity = model::common_time(groups, first, first);
    found.scaling = weak ? Scaling::weak : Scaling::strong;
    bool same_load = true;
    results::Run run;
    for (std::size_t i = 0; i < curve.groups.size(); ++i) {
        const auto group = curve.groups[i];
        run = runs.file().read(groups.newest(group));
        const std::size_t nodes = model::node_count(run);
        found.points.push_back({.ranks = curve.widths[i],
                                .times_s = groups.values(group, found.quantity),
                                .nodes = base::real(nodes)});
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
    found.memory_fixed_bytes = base::number_in(run.fact(fact::kMemoryFixed)).value_or(kNone);
    found.memory_bytes_per_sample =
        base::number_in(run.fact(fact::kMemoryPerSample)).value_or(kNone);
    found.batch = weak ? number_of(run, setting::kBatchSize, kNone)
                       : number_of(run, setting::kGlobalBatchSize, kNone) /
                             number_of(run, setting::kAccumulate, 1);
    if (!same_load)
        found.notes.emplace_back(
            "load by other processes differs between the points: the curve may follow the load");
    if (curves.size() > 1)
        found.notes.push_back(fmt::format(
            "the longest of {} curves in the file; --where and --scaling choose another",
            curves.size()));
    return found;
}

}  // namespace ranklab::report::predict
