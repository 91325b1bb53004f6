#include "report/history/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/compare/compare.hpp"
#include "report/model/groups.hpp"
#include "report/model/values.hpp"
#include "vocabulary/facts.hpp"

namespace ranklab::report::history {
namespace {

using Names = std::vector<std::string>;

constexpr const char* kStarted = "started_utc";
constexpr std::size_t kMostNamed = 5, kMostFacts = 3;
constexpr std::size_t kFewestDays = 8, kMostOnPage = 6;
// Conditions of a configuration; the others may change within a series.
constexpr std::string_view kKept[] = {"host.cpu", "devices", "cache", "fsync"};

// The asked measurements; by default the headline ones, without rates that follow from a time.
Names measurements_of(const HistoryQuery& query) {
    if (!query.measurements.empty()) return query.measurements;
    Names names = model::names_shown(vocabulary::Shown::compare);
    std::erase_if(names, [](const auto& name) {
        return model::is_rate(name) &&
               vocabulary::quantity(name).shown == vocabulary::Shown::groups;
    });
    return names;
}

// The table of runs, with noted facts. Settings to ignore are no keys.
Frame table_of(const model::ChosenRuns& chosen, const HistoryQuery& query) {
    Frame runs;
    const model::GroupQuery no_keys;
    chosen.visit(results::Detail::row, [&](const results::Run& run) {
        model::add_run(runs, no_keys, run);
        runs.put({.name = kStarted}, run.started_utc);
        for (const auto& [section, key, value] : run.context)
            if (const auto name = section + "." + key;
                vocabulary::role_of_fact(name) == vocabulary::FactRole::noted)
                runs.put({.name = name, .role = Role::place}, value);
    });
    std::set<std::string> names;
    for (auto& column : runs.columns) {
        if (column.role == Role::measured || column.role == Role::derived) continue;
        names.insert(column.name);
        if (column.is_key() && model::is_ignored(column.name, query.ignore))
            column.role = Role::place;
    }
    if (!runs.empty()) model::refuse_unknown_ignored(query.ignore, names);
    return runs;
}

// A setting or fact that varies within a series, by run.
struct Varying {
    std::string key;
    Names values;
    std::size_t switches = 0, rank = 0;  // rank: its row in the vocabulary
};

// Sorted by the number of changes, since rare changes tell more, then as in the vocabulary.
std::vector<Varying> varying_in(const Frame& runs, const Places& rows) {
    const auto known = vocabulary::facts();
    std::set<std::string> met;
    std::vector<Varying> all;
    for (const Role role : {Role::condition, Role::place, Role::factor})
        for (const std::size_t column : runs.all(role)) {
            const auto& name = runs.columns[column].name;
            if (!met.insert(name).second) continue;
            const auto* fact = vocabulary::find_fact(name);
            Varying one{.key = name,
                        .values = {},
                        .rank = fact == nullptr ? known.size()
                                                : static_cast<std::size_t>(fact - known.data())};
            for (const std::size_t row : rows) one.values.push_back(runs.at(row, column).text);
            for (std::size_t i = 1; i < rows.size(); ++i)
                one.switches += one.values[i] != one.values[i - 1] ? 1 : 0;
            if (one.switches > 0) all.push_back(std::move(one));
        }
    std::ranges::stable_sort(all, {},
                             [](const auto& one) { return std::pair(one.switches, one.rank); });
    return all;
}

std::string change_text(const Varying& one, std::size_t before, std::size_t after) {
    const auto shown = [&](std::size_t run) {
        return one.values[run].empty() ? "(none)" : base::printable(one.values[run], 60);
    };
    return fmt::format("{}: {} to {}", one.key, shown(before), shown(after));
}

// How the key changed with the step at run `at` and stayed up to `end`; "" if not. The step may
// lie one run beside the change. A fact without value was not stored by that version, which is no
// change; an environment variable without value was not set.
std::string change_at(const Varying& one, std::size_t begin, std::size_t at, std::size_t end) {
    const std::span<const std::string> values(one.values);
    const std::size_t last = std::max(begin + 1, at - 1) - 1, first = std::min(at + 1, end - 1);
    const std::string &before = values[last], &after = values[first];
    const bool absent = before.empty() || after.empty();
    if (before == after || (absent && !model::is_between_ranks(one.key))) return "";
    const auto later = values.subspan(first, end - first);
    const bool stayed = std::ranges::count(later, after) == std::ssize(later);
    return stayed && std::ranges::count(values.subspan(begin, last + 1 - begin), after) == 0
               ? change_text(one, last, first)
               : "";
}

// "2026-11-03 04:00" of "2026-11-03T04:00:12Z".
std::string time_of(const std::string& utc) {
    return utc.size() < 16 ? utc : fmt::format("{} {}", utc.substr(0, 10), utc.substr(11, 5));
}

// Days without a valid run, from the first run's day to yesterday, the newest first.
Names missing_days(const std::set<std::string>& met) {
    Names days;
    std::string day;
    for (std::time_t at = std::time(nullptr) - 86400;
         (day = base::utc_iso(at).substr(0, 10)) > *met.begin() && days.size() < 3660; at -= 86400)
        if (!met.contains(day)) days.push_back(day);
    return days;
}

// One measurement of a configuration, in the order of time.
struct Maker {
    const HistoryQuery& query;
    const Frame& runs;
    Series series;
    Places rows = {};                 // of the runs without other load
    std::vector<double> values = {};  // of these runs

    std::string time(std::size_t run) const { return time_of(runs.at(rows[run], kStarted).text); }
    void say(const std::string& sentence) {
        series.table.rows.back().caveats.push_back({CaveatKind::said, sentence});
    }
    void say_which(const std::string& what, const char* how, const Names& which) {
        if (!which.empty())
            say(fmt::format("{} {}: {}", counted(which.size(), what), how,
                            some_of(which, kMostNamed)));
    }

    void fill(Places all) {
        const std::size_t column = runs.find(series.measurement, Role::measured);
        const std::string& unit = runs.columns[column].unit;
        std::set<std::string> days;
        Names disturbed;
        std::erase_if(all, [&](auto row) { return !runs.at(row, column).is_number(); });
        std::ranges::stable_sort(all, {}, [&](auto row) { return runs.at(row, kStarted).text; });
        for (const std::size_t row : all) {
            const std::string& started = runs.at(row, kStarted).text;
            days.insert(started.substr(0, 10));
            if (runs.at(row, "other_load").number > vocabulary::kMostOtherLoad)
                disturbed.push_back(time_of(started));
            else
                rows.push_back(row), values.push_back(runs.at(row, column).number);
        }
        series.table.title = fmt::format("{}: {}, {}", series.configuration, series.measurement,
                                         counted(all.size(), "run"));
        series.table.columns = columns_of(
            fmt::format("since* | runs | median+- [{}] | ratio+- [1] | verdict | changed", unit));
        series.figure = {.name = "history",
                         .title = series.table.title,
                         .x_label = "run",
                         .y_label = without_unit(series.measurement),
                         .unit = unit,
                         .series = {{"runs"}, {"median", figures::Look::line, 1}}};
        divide();
        say_which("run", "beside other load left out", disturbed);
        if (query.daily) say_which("day", "without a valid run", missing_days(days));
    }

    void divide() {
        auto found = stats::change_points(values, query.min_effect);
        found.steps.push_back(values.size());
        const auto varying = varying_in(runs, rows);
        const bool rates = model::is_rate(series.measurement);
        std::size_t earlier = 0, begin = 0;
        std::vector<double> before, own;
        for (const std::size_t end : found.steps) {
            own.clear();
            Names spikes;
            for (std::size_t i = begin; i < end; ++i)
                if (std::ranges::binary_search(found.spikes, i))
                    spikes.push_back(time(i));
                else
                    own.push_back(values[i]);
            const auto summary = stats::summarise_runs(own, rates);
            series.table.rows.push_back(
                {{begin < end ? time(begin) : "", own.size(), Cell(summary.median, summary.ci95)}});
            for (std::size_t i = begin; i < end; ++i) {
                series.figure.series[0].points.push_back({base::real(i + 1), values[i]});
                series.figure.series[1].points.push_back({base::real(i + 1), summary.median});
            }
            if (begin > 0) judge(stats::difference(before, own, rates).ratio, rates);
            if (begin > 0) explain(varying, earlier, begin, end);
            say_which("spike", "left out", spikes);
            for (const auto& one : varying)
                for (std::size_t i = std::max<std::size_t>(1, begin); i < end; ++i)
                    if (one.values[i] != one.values[i - 1] &&
                        model::is_ignored(one.key, query.ignore))
                        say(fmt::format("{} from {}", change_text(one, i - 1, i), time(i)));
            before.swap(own);
            earlier = std::exchange(begin, end);
        }
        if (found.two_levels) say("the newest runs alternate between two levels: no step");
        if (found.drifts) say("the newest runs drift along a line: no step");
    }

    void judge(const stats::RatioEstimate& ratio, bool rates) {
        using stats::Verdict;
        const auto better = vocabulary::better_of(
            series.measurement, rates ? vocabulary::Kind::rate : vocabulary::Kind::cost);
        const auto verdict = better == stats::Better::neither ? Verdict::changed
                             : (ratio.ratio < 1) == (better == stats::Better::less)
                                 ? Verdict::better
                                 : Verdict::worse;
        series.worse_by = verdict == Verdict::worse ? std::abs(ratio.ratio - 1) : 0;
        auto& cells = series.table.rows.back().cells;
        cells.emplace_back(ratio);
        cells.emplace_back(compare::name_of(verdict));
    }

    void explain(const std::vector<Varying>& varying, std::size_t earlier, std::size_t begin,
                 std::size_t end) {
        Names facts;
        for (const auto& one : varying)
            if (auto text = change_at(one, earlier, begin, end); !text.empty())
                facts.push_back(std::move(text));
        series.table.rows.back().cells.emplace_back(
            facts.empty() ? "no change in what ranklab stores" : some_of(facts, kMostFacts, "; "));
    }
};

// The rows of all series, with a column `unit`, since their medians differ in unit.
Frame joined(const std::vector<Series>& all) {
    Frame table{.columns = columns_of("configuration* | measurement* | unit")};
    for (const auto& series : all)
        for (const auto& row : series.table.rows) {
            const auto& columns = series.table.columns;
            table.rows.push_back({{series.configuration, series.measurement,
                                   columns[series.table.find("median")].unit},
                                  row.caveats});
            for (std::size_t i = 0; i < columns.size(); ++i) table.put(columns[i], row.at(i));
        }
    return table;
}

std::string json_of(const std::vector<Series>& all) {
    const Frame table = joined(all);
    auto rows = json_rows(table);
    for (std::size_t row = 0; row < rows.size(); ++row)
        rows[row]["notes"] = sentences_of(table.rows[row].caveats);
    return json_line({{"schema", 1}, {"segments", rows}}) + '\n';
}

}  // namespace

std::vector<Series> history_of(const model::ChosenRuns& chosen, const HistoryQuery& query) {
    std::vector<Series> all;
    Frame runs = table_of(chosen, query);
    model::GroupQuery pooled{.measurements = measurements_of(query)};
    for (const std::size_t column : runs.all(Role::condition))
        if (const auto& name = runs.columns[column].name;
            std::ranges::count(kKept, name) == 0 || model::is_ignored(name, query.ignore))
            pooled.ignore.push_back(name);
    const model::Groups groups(std::move(runs), pooled);
    for (const std::size_t group : groups.all())
        for (const auto& name : measurements_of(query))
            if (groups.has(group, name) &&
                (!query.measurements.empty() ||
                 vocabulary::quantity(name).shown_for == groups.command(group))) {
                Maker maker{query, groups.runs(), {groups.name(group), name, {}, {}}};
                maker.fill(groups.members(group));
                all.push_back(std::move(maker.series));
            }
    return all;
}

std::string written(const std::vector<Series>& all, const std::string& format) {
    if (format == "json") return json_of(all);
    if (format == "csv") return csv_of(joined(all));
    std::string text;
    for (const auto& series : all) {
        Frame table = series.table;
        table.drop_empty_columns();
        if (!text.empty()) text += '\n';
        text += format == "markdown" ? markdown_of(table) : text_of(table);
    }
    return text;
}

std::string worse_by(const std::vector<Series>& all, double threshold) {
    constexpr double kRounding = 1e-9;  // as in stats::judge
    std::vector<std::string> worse;
    for (const auto& [configuration, measurement, table, figure, by] : all)
        if (by > 0 && by >= threshold - kRounding)
            worse.push_back(fmt::format("{} of {} by {:.1f} % since {}", measurement, configuration,
                                        100 * by, table.rows.back().at(0).text));
    return some_of(worse, SIZE_MAX, "; ");
}

figures::Section section_of(const model::ChosenRuns& runs) {
    figures::Section section{.id = "history", .heading = "History"};
    std::set<std::string> days;
    for (const auto& run : runs.headers()) days.insert(run.started_utc.substr(0, 10));
    if (days.size() < kFewestDays) return section;
    auto all = history_of(runs, {});
    std::ranges::stable_sort(all, std::greater(), [](const Series& series) {
        return std::pair(series.table.rows.size(), series.figure.series.front().points.size());
    });
    if (all.size() > kMostOnPage) all.resize(kMostOnPage);
    for (const auto& series : all)
        section.tables.push_back(series.table), section.tables.back().drop_empty_columns();
    if (!all.empty()) section.figures.push_back(all.front().figure);
    return section;
}

}  // namespace ranklab::report::history
