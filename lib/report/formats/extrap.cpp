// Runs for Extra-P.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/formats/formats.hpp"
#include "report/frame/frame.hpp"
#include "report/model/conditions.hpp"
#include "report/model/values.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::formats {
namespace {

using results::Run;
using Json = nlohmann::ordered_json;

double parameter(const Run& run, const std::string& key) {
    const std::string text = model::value_of(run, key);
    const auto value = base::number_in(text);
    if (!value || !std::isfinite(*value))
        throw base::OptionError(
            fmt::format("run {} has {} '{}', and Extra-P's parameters are numbers; name "
                        "other keys, or leave the run out",
                        run.id, key, base::printable(text, 40)),
            {"group-by", "where"});
    return *value;
}

// Extra-P's call path, appended to the workload, and its metric: a phase of a step
// ("forward_time_s") is the metric "time" at "->forward"; any other measurement is a metric of its
// own.
std::pair<std::string, std::string> path_and_metric(const std::string& name) {
    constexpr std::string_view kTime = "_time_s";
    const auto* known = vocabulary::find_quantity(name);
    if (known != nullptr && !known->part_of.empty())
        return {"->" + name.substr(0, name.size() - kTime.size()), "time"};
    for (const auto* whole : vocabulary::wholes())
        if (name == whole->name) return {"", "time"};
    return {"", name};
}

// A run at a point of Extra-P's parameters.
struct Point {
    Json params = Json::object();
    // `kind`: the workload without mode and sync.
    std::string workload = {}, kind = {};
    // The single-device code on one rank: the first point of every series of its kind.
    bool alone = false;
    std::vector<std::pair<std::string, double>> values = {};  // of measurements
};

Point point_of(const Run& run, const std::vector<std::string>& keys) {
    Point point{.workload = workload_name(run)};
    for (const auto& key : keys) point.params[key == "ranks" ? "p" : key] = parameter(run, key);
    Run apart = run;
    std::erase_if(apart.config,
                  [](const auto& one) { return one.key == "mode" || one.key == "sync"; });
    point.kind = workload_name(apart);
    point.alone = model::is_single_device(run);
    for (const auto& m : run.measurements)
        if (std::isfinite(m.summary.median)) point.values.emplace_back(m.name, m.summary.median);
    return point;
}

std::vector<std::string> workloads_of(const Point& point, const std::vector<Point>& all) {
    std::set<std::string> workloads;
    for (const auto& other : all)
        if (point.alone && !other.alone && other.kind == point.kind)
            workloads.insert(other.workload);
    if (workloads.empty()) workloads.insert(point.workload);
    return {workloads.begin(), workloads.end()};
}

using Coordinates = std::set<std::string>;
struct Series {
    Coordinates coordinates;
    std::vector<std::string> lines;
};

std::map<std::string, Series> series_of(const std::vector<Point>& points) {
    std::map<std::string, Series> all;  // by path and metric
    for (const auto& point : points)
        for (const auto& workload : workloads_of(point, points))
            for (const auto& [name, value] : point.values) {
                const auto [path, metric] = path_and_metric(name);
                Series& series = all[fmt::format("{}{} {}", workload, path, metric)];
                series.coordinates.insert(point.params.dump());
                series.lines.push_back(json_line({{"params", point.params},
                                                  {"callpath", workload + path},
                                                  {"metric", metric},
                                                  {"value", value}}));
            }
    return all;
}

// The points of the longest series: Extra-P refuses a file whose series differ in their points.
Coordinates longest_series(const std::map<std::string, Series>& all) {
    std::map<Coordinates, std::size_t> counts;
    for (const auto& [name, series] : all) ++counts[series.coordinates];
    const auto most = std::ranges::max_element(
        counts, {}, [](const auto& one) { return std::pair(one.first.size(), one.second); });
    return most == counts.end() ? Coordinates() : most->first;
}

// The conditions in which runs of one command differ.
std::set<std::string> differing_in(const Frame& runs) {
    std::set<std::string> names;
    for (const auto& [command, rows] : runs.group_by({runs.find("command")}))
        for (const std::size_t column : runs.all(Role::condition)) {
            const std::string& first = runs.at(rows.front(), column).text;
            if (std::ranges::any_of(
                    rows, [&](std::size_t row) { return runs.at(row, column).text != first; }))
                names.insert(runs.columns[column].name);
        }
    names.erase("hosts");
    return names;
}

}  // namespace

void write_extrap(const model::ChosenRuns& runs, const std::vector<std::string>& keys,
                  const model::Sink& sink) {
    const std::vector<std::string> names = keys.empty() ? std::vector<std::string>{"ranks"} : keys;
    Frame conditions;
    std::vector<Point> points;
    runs.visit(results::Detail::summaries, [&](const Run& run) {
        // A run that holds a ladder has no measurements.
        if (!run.valid || run.measurements.empty()) return;
        conditions.rows.emplace_back();
        conditions.put({.name = "command"}, run.command);
        for (const auto& [name, value] : model::pooling_key_of(run))
            conditions.put({.name = name, .role = Role::condition}, value);
        points.push_back(point_of(run, names));
    });
    if (const auto apart = differing_in(conditions); !apart.empty())
        base::log::warn(
            fmt::format("these runs differ in {}, and Extra-P takes those of equal parameters for "
                        "repetitions; choose runs of one kind with --where",
                        fmt::join(apart, ", ")));
    const auto all = series_of(points);
    const Coordinates wanted = longest_series(all);
    std::vector<std::string> left_out;
    for (const auto& [name, series] : all) {
        if (series.coordinates != wanted) left_out.push_back(name);
        for (const auto& line : series.lines)
            if (series.coordinates == wanted) sink(line + '\n');
    }
    if (!left_out.empty())
        base::log::warn(fmt::format(
            "Extra-P needs all measurements at the same points: {} of {} were left out ({})",
            left_out.size(), all.size(), some_of(left_out, 3, ", ", 80)));
}

}  // namespace ranklab::report::formats
