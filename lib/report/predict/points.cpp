#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/model/groups.hpp"
#include "report/model/scaling.hpp"
#include "report/model/values.hpp"
#include "report/predict/curve.hpp"
#include "stats/interval.hpp"

namespace ranklab::report::predict {
namespace {

using forecast::CurvePoint;
using forecast::Scaling;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // spreadsheets write it

// One row of a file of points.
struct PointRow {
    double ranks = 0, value = 0, low = stats::kNone, high = stats::kNone, nodes = 0;
};

class PointsFile {
  public:
    explicit PointsFile(const std::filesystem::path& path) {
        std::ifstream file(path);
        if (!file)
            throw base::OptionError(fmt::format("{} cannot be read", path.string()), {"points"});
        std::string line;
        for (std::size_t number = 1; std::getline(file, line); ++number) {
            if (line.ends_with('\r')) line.pop_back();
            if (number == 1 && line.starts_with(kByteOrderMark))
                line.erase(0, kByteOrderMark.size());
            if (base::trim(line).empty() || line.starts_with('#')) continue;
            try {
                if (names_.empty())
                    read_names(line);
                else
                    rows.push_back(row_of(base::split(line, ',')));
            } catch (base::DataError& error) {
                error.add_context(fmt::format("{} line {}", path.string(), number));
                throw;
            }
        }
        if (rows.empty())
            throw base::DataError(
                fmt::format("{} holds no points: a header such as ranks,time_s, "
                            "then a row a point",
                            path.string()));
    }
    bool is_rate() const { return std::ranges::find(names_, "rate") != names_.end(); }

    std::vector<PointRow> rows;

  private:
    void read_names(const std::string& line) {
        for (const auto& name : base::split(line, ',')) names_.push_back(base::trim(name));
        for (const auto& name : names_)
            if (!std::ranges::count(std::array{"ranks", "time_s", "rate", "low", "high", "nodes"},
                                    name))
                throw base::DataError(
                    fmt::format("'{}' is not a column of points; they are ranks, "
                                "time_s or rate, low, high, nodes",
                                base::printable(name, 40)));
        const auto has = [&](const char* name) { return std::ranges::count(names_, name) == 1; };
        if (!has("ranks") || has("time_s") == has("rate"))
            throw base::DataError("the header needs ranks, and time_s or rate");
    }
    PointRow row_of(const std::vector<std::string>& cells) const {
        if (cells.size() != names_.size())
            throw base::DataError(
                fmt::format("it has {} cells, not {}", cells.size(), names_.size()));
        PointRow row;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const auto& name = names_[i];
            const std::string cell = base::trim(cells[i]);
            const bool optional = name == "low" || name == "high" || name == "nodes";
            if (cell.empty() && optional) continue;
            const auto number = base::number_in(cell);
            if (!number || !std::isfinite(*number) || *number <= 0)
                throw base::DataError(fmt::format("{}: '{}' is not a number above 0", name,
                                                  base::printable(cell, 40)));
            (name == "ranks"   ? row.ranks
             : name == "low"   ? row.low
             : name == "high"  ? row.high
             : name == "nodes" ? row.nodes
                               : row.value) = *number;
        }
        if (row.ranks != std::floor(row.ranks) || row.nodes > row.ranks)
            throw base::DataError("ranks is not a whole number of at least one on each node");
        if (std::isnan(row.low) != std::isnan(row.high) || row.low > row.value ||
            row.high < row.value)
            throw base::DataError("the value does not lie between low and high");
        return row;
    }

    std::vector<std::string> names_;
};

constexpr double kHalfWidths = 1.96;  // deviations to either side of a 95 % interval

// Rates become times of the same work: of all ranks (strong) or of one (weak).
double time_of(const PointRow& row, bool is_rate, Scaling scaling) {
    if (!is_rate) return row.value;
    return (scaling == Scaling::weak ? row.ranks : 1) / row.value;
}

std::vector<CurvePoint> points_of_rows(const std::vector<PointRow>& rows, bool is_rate,
                                       Scaling scaling) {
    std::map<double, CurvePoint> points;
    for (const auto& row : rows) {
        auto& point = points[row.ranks];
        point.ranks = row.ranks;
        point.times_s.push_back(time_of(row, is_rate, scaling));
        point.nodes = std::max(point.nodes, static_cast<int>(row.nodes));
        if (row.high > row.low)
            point.deviation =
                std::fmax(point.deviation, std::log(row.high / row.low) / (2 * kHalfWidths));
    }
    std::vector<CurvePoint> all;
    for (auto& [ranks, point] : points) all.push_back(std::move(point));
    return all;
}

// Strong where all ranks together take clearly less time than the first.
Scaling scaling_seen(const std::vector<PointRow>& rows, bool is_rate) {
    const auto points = points_of_rows(rows, is_rate, Scaling::strong);
    const double times = points.front().middle() / points.back().middle(),
                 ranks = points.back().ranks / points.front().ranks;
    return !is_rate && times > std::sqrt(ranks) ? Scaling::strong : Scaling::weak;
}

// Whether its counted steps begin with slower ones, more than a tenth of them.
bool has_warm_up(const results::Run& run, const std::string& measurement) {
    const auto* table = run.find_table("statistics");
    for (std::size_t row = 0; table != nullptr && row < model::row_count(*table); ++row)
        if (model::text_at(*table, "name", row) == measurement)
            return model::number_at(*table, "warmup_detected", row) -
                       model::number_at(*table, "warmup_fixed", row) >
                   0.1 * model::number_at(*table, "n", row);
    return false;
}

// The ranks that one node of that run can hold: those it had, or as many as it has cores for.
double node_holds(const results::Run& run, std::size_t nodes) {
    const double there = static_cast<double>(run.hosts.size()) / static_cast<double>(nodes);
    const auto cpus = base::number_in(run.fact("host", "logical_cpus"));
    const auto threads = base::number_in(run.setting("threads"));
    if (!cpus || run.setting("device") == "cuda") return there;
    return std::max(there, std::floor(*cpus / std::max(1.0, threads.value_or(1))));
}

struct Found {
    model::Curve curve;
    bool weak = false;
};

Found longest_curve(const model::Groups& groups, const model::Scaling& scaling,
                    std::optional<Scaling> wanted, std::size_t& others) {
    Found best;
    for (const bool weak : {true, false}) {
        if (wanted && (*wanted == Scaling::weak) != weak) continue;
        for (auto& curve : model::curves_of(groups, scaling, weak)) {
            if (curve.widths.size() < 2) continue;
            ++others;
            if (curve.widths.size() >= best.curve.widths.size()) best = {std::move(curve), weak};
        }
    }
    return best;
}

}  // namespace

Measured read_points(const std::filesystem::path& path, std::optional<Scaling> scaling) {
    const PointsFile file(path);
    Measured found{.title = path.filename().string(),
                   .quantity = file.is_rate() ? "rate" : "time_s",
                   .unit = file.is_rate() ? "1" : "s",
                   .is_rate = file.is_rate()};
    found.scaling = scaling ? *scaling : scaling_seen(file.rows, found.is_rate);
    if (!scaling)
        found.notes.emplace_back(found.scaling == Scaling::weak
                                     ? "taken as weak scaling; --scaling says otherwise"
                                     : "taken as strong scaling; --scaling says otherwise");
    found.points = points_of_rows(file.rows, found.is_rate, found.scaling);
    return found;
}

Measured points_of(const model::ChosenRuns& runs, std::optional<Scaling> wanted) {
    const model::Groups groups(model::runs_frame(runs, {}));
    const auto scaling = model::scaling_over(groups, "ranks");
    std::size_t curves = 0;
    const auto [curve, weak] = longest_curve(groups, scaling, wanted, curves);
    if (curve.groups.empty())
        throw base::OptionError(
            fmt::format("{} has no runs of the same work on different numbers of ranks",
                        runs.file().path().string()),
            {"where", "scaling"});
    const auto& first = groups.all[curve.groups.front()];
    Measured found{.title = curve.title,
                   .quantity = model::common_time(groups, first, first),
                   .unit = "s",
                   .scaling = weak ? Scaling::weak : Scaling::strong};
    std::size_t warm = 0, crowded = 0;
    results::Run run;
    for (std::size_t i = 0; i < curve.groups.size(); ++i) {
        const auto& group = groups.all[curve.groups[i]];
        run = runs.file().read(groups.newest(group));
        const std::size_t nodes = model::node_count(run);
        found.points.push_back({.ranks = curve.widths[i],
                                .times_s = groups.values(group, found.quantity),
                                .nodes = static_cast<int>(nodes)});
        if (nodes == 1) found.node_holds = std::max(found.node_holds, node_holds(run, nodes));
        crowded += group.cores.oversubscribed() ? 1 : 0;
        warm += has_warm_up(run, found.quantity) ? 1 : 0;
        if (run.argv.starts_with("ranklab "))
            found.sweep = "ranklab sweep" + run.argv.substr(std::string_view("ranklab").size());
    }
    // The largest point's run.
    const auto number = [](const std::string& text) {
        return base::number_in(text).value_or(stats::kNone);
    };
    found.memory_fixed_bytes = number(run.fact("training", "memory_fixed_bytes"));
    found.memory_bytes_per_sample = number(run.fact("training", "memory_bytes_per_sample"));
    found.batch = weak ? number(run.setting("batch-size"))
                       : number(run.setting("global-batch-size")) /
                             base::number_in(run.setting("accumulate")).value_or(1);
    found.has_warm_up = 2 * warm > curve.groups.size();
    if (crowded > 0)
        found.notes.push_back(fmt::format(
            "{} of the points are oversubscribed: more compute threads than cores", crowded));
    if (curves > 1)
        found.notes.push_back(fmt::format(
            "the longest of {} curves in the file; --where and --scaling choose another", curves));
    return found;
}

}  // namespace ranklab::report::predict
