#include "report/model/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/frame/readable.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;
using Names = std::vector<std::string>;

constexpr std::string_view kCondition = "condition:", kMeasured = "measured:";

std::set<CaveatKind> marks_of(const Run& run, const Cores& cores) {
    const bool unconverged = run.fact(fact::kConverged).starts_with("no");
    const bool exit_7 = run.exit_code == static_cast<int>(base::ExitCode::invalid_measurement);
    const std::pair<CaveatKind, bool> marks[] = {
        {CaveatKind::invalid, !run.valid},
        {CaveatKind::oversubscribed, cores.oversubscribed()},
        {CaveatKind::other_load, run.fact(fact::kQuietHosts) == "no"},
        {CaveatKind::not_converged, unconverged},
        {CaveatKind::exit_7, exit_7 && !unconverged},
        {CaveatKind::cut_short, !run.cut_short().empty()},
        // Ranks that share nothing: their speed does not say how fast they train together.
        {CaveatKind::not_summed, run.hosts.size() > 1 && run.setting(setting::kMode) == "ddp" &&
                                     run.setting(setting::kSync) == "none"},
        {CaveatKind::not_verified,
         run.find_table("verification") != nullptr && run.verified() != "yes"}};
    std::set<CaveatKind> some;
    for (const auto& [mark, holds] : marks)
        if (holds) some.insert(mark);
    return some;
}

// A command's headline measurements: its rate, and the time that its speedups are made of.
std::vector<std::string> headline_measurements() {
    Names names;
    for (const char* command : {"train", "io", "comm"})
        std::ranges::move(vocabulary::shown_at(vocabulary::Shown::groups, command),
                          std::back_inserter(names));
    return names;
}

// The conditions that all these rows share; the names of the others go to `differing`.
Conditions common_of(const std::vector<Conditions>& of_runs, const std::vector<std::size_t>& rows,
                     Names& differing) {
    std::vector<Conditions> all;
    for (const std::size_t row : rows) all.push_back(of_runs[row]);
    differing = differing_keys(all);
    Conditions common = all.empty() ? Conditions() : all.front();
    for (const auto& key : differing) common.erase(key);
    return common;
}

std::size_t count(const RunsFrame& runs, const Group& group, CaveatKind mark) {
    return static_cast<std::size_t>(std::ranges::count_if(
        group.runs, [&](std::size_t row) { return runs.marks[row].contains(mark); }));
}

std::vector<Caveat> doubts_of(const RunsFrame& runs, const Group& group) {
    std::vector<Caveat> caveats;
    const auto of_all = [&](std::size_t some) {
        return fmt::format("{} of {}", some, counted(group.runs.size(), "run"));
    };
    const auto add = [&](CaveatKind mark) {
        if (const std::size_t some = count(runs, group, mark); some > 0)
            caveats.push_back({mark, of_all(some)});
    };
    if (const std::size_t some = count(runs, group, CaveatKind::oversubscribed); some > 0)
        caveats.push_back({CaveatKind::oversubscribed,
                           group.cores.oversubscription +
                               (some == group.runs.size() ? "" : ", " + of_all(some))});
    if (group.not_summed) caveats.push_back({CaveatKind::not_summed});
    add(CaveatKind::other_load);
    if (group.runs.size() == 1) caveats.push_back({CaveatKind::single_run});
    if (group.invalid > 0) caveats.push_back({CaveatKind::left_out, fmt::to_string(group.invalid)});
    for (const CaveatKind mark :
         {CaveatKind::not_converged, CaveatKind::exit_7, CaveatKind::cut_short})
        add(mark);
    Names differing = group.differing;
    std::erase_if(differing,
                  [&](const auto& name) { return std::ranges::count(runs.asked.keys, name) > 0; });
    if (!differing.empty() && !runs.asked.keys.empty())
        caveats.push_back({CaveatKind::differs, some_of(differing, 4)});
    if (count(runs, group, CaveatKind::not_verified) > 0)
        caveats.push_back({CaveatKind::not_verified});
    return caveats;
}

Group group_of(const RunsFrame& runs, const std::vector<std::size_t>& rows) {
    Group group;
    std::vector<Cores> cores;
    for (const std::size_t row : rows) {
        const bool measured = std::ranges::any_of(runs.asked.measurements, [&](const auto& name) {
            return runs.frame.at(row, std::string(kMeasured) + name).is_number();
        });
        if (runs.marks[row].contains(CaveatKind::invalid)) {
            ++group.invalid;
        } else if (!measured) {
            ++group.without;
        } else {
            group.runs.push_back(row);
            cores.push_back(runs.cores[row]);
        }
    }
    group.cores = common_cores(cores);
    Names other_places;
    group.factors = common_of(runs.factors, group.runs, group.differing);
    group.places = common_of(runs.places, group.runs, other_places);
    group.not_summed = count(runs, group, CaveatKind::not_summed) > 0;
    group.caveats = doubts_of(runs, group);
    return group;
}

}  // namespace

RunsFrame::RunsFrame(GroupQuery what) : asked(std::move(what)) {
    if (asked.measurements.empty()) asked.measurements = headline_measurements();
    for (const auto& key : asked.keys) {
        if (key.empty() || frame.find(key) < frame.columns.size())
            throw base::OptionError(
                fmt::format("a table is made by keys with a comma between, each once, such as "
                            "ranks,sync; not '{}'",
                            key),
                {"group-by"});
        frame.add_column({.name = key, .key = true});
    }
}

void RunsFrame::add(const Run& run) {
    frame.rows.emplace_back();
    ids.push_back(run.id);
    cores.push_back(cores_of(run));
    marks.push_back(marks_of(run, cores.back()));
    factors.push_back(factors_of(run));
    places.push_back(machine_of(run));
    places.back()["threads"] = threads_text(run);
    for (const auto& key : asked.keys) put({.name = key}, value_of(run, key));
    if (asked.keys.empty())
        for (const auto& [key, value] : group_key_of(run)) put({.name = key, .key = true}, value);
    for (const auto& [key, value] : surroundings_of(run)) conditions.insert(key);
    for (const auto& [key, value] : pooling_key_of(run)) {
        conditions.insert(key);
        if (!is_ignored(key, asked.ignore) &&
            std::ranges::find(asked.keys, key) == asked.keys.end())
            put({.name = std::string(kCondition) + key}, value);
    }
    for (const auto& m : run.measurements)
        if (m.summary.n > 0)
            put({.name = std::string(kMeasured) + m.name, .unit = m.unit, .interval = true},
                {m.summary.median, m.summary.ci95});
    for (const auto& table : run.tables)
        if (run.valid) newest_with[table.name] = run.id;
}

RunsFrame runs_frame(const ChosenRuns& runs, GroupQuery asked) {
    RunsFrame made(std::move(asked));
    runs.visit(results::Detail::summaries, [&](const Run& run) { made.add(run); });
    made.check_ignored();
    return made;
}

std::string Group::factor(const std::string& name) const {
    const auto found = factors.find(name);
    return found == factors.end() ? "" : found->second;
}

Groups::Groups(RunsFrame runs) : runs_(std::move(runs)) {
    std::vector<std::size_t> columns, conditions;
    for (std::size_t i = 0; i < runs_.frame.columns.size(); ++i) {
        if (runs_.frame.columns[i].key) columns.push_back(i);
        if (runs_.frame.columns[i].name.starts_with(kCondition)) conditions.push_back(i);
    }
    const std::size_t asked = columns.size();
    columns.insert(columns.end(), conditions.begin(), conditions.end());
    add_groups(columns);
    keep_keys(columns, asked);
    std::ranges::stable_sort(all, [](const Group& a, const Group& b) {
        return std::ranges::lexicographical_compare(a.key, b.key, in_order);
    });
    if (!runs_.asked.keys.empty()) return;
    std::vector<const Group*> some;
    for (const auto& group : all) some.push_back(&group);
    names_ = titles(some);
    for (std::size_t i = 0; i < names_.size(); ++i) {
        const std::string& ranks = all[i].key[place_of("ranks")];
        names_[i] += fmt::format(", {} rank{}", ranks, ranks == "1" ? "" : "s");
    }
}

void Groups::add_groups(const std::vector<std::size_t>& columns) {
    for (const auto& [key, rows] : runs_.frame.group_by(columns)) {
        Group group = group_of(runs_, rows);
        without += group.without;
        if (group.runs.empty() && group.invalid == 0) continue;
        group.key = key;
        all.push_back(std::move(group));
    }
}

// Conditions in which groups differ become keys, behind those asked for.
void Groups::keep_keys(const std::vector<std::size_t>& columns, std::size_t asked) {
    std::vector<std::vector<std::string>> kept(all.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const bool differs = std::ranges::any_of(
            all, [&](const Group& group) { return group.key[i] != all.front().key[i]; });
        if (i >= asked && !differs) continue;
        std::string name = runs_.frame.columns[columns[i]].name;
        if (i >= asked) apart.push_back(name = name.substr(kCondition.size()));
        keys.push_back(name);
        for (std::size_t group = 0; group < all.size(); ++group)
            kept[group].push_back(all[group].key[i]);
    }
    for (std::size_t group = 0; group < all.size(); ++group)
        all[group].key = std::move(kept[group]);
}

std::size_t Groups::place_of(std::string_view key) const {
    return static_cast<std::size_t>(std::ranges::find(keys, key) - keys.begin());
}

std::vector<double> Groups::values(const Group& group, std::string_view measurement) const {
    std::vector<double> values;
    const std::size_t column = runs_.frame.find(std::string(kMeasured) + std::string(measurement));
    for (const std::size_t row : group.runs)
        if (const Cell& cell = runs_.frame.at(row, column); cell.is_number())
            values.push_back(cell.number);
    return values;
}

Estimate Groups::estimate(const Group& group, std::string_view measurement) const {
    const std::size_t column = runs_.frame.find(std::string(kMeasured) + std::string(measurement));
    const stats::Summary s = stats::summarise(values(group, measurement));
    Estimate found{s.median, s.ci95, s.n, {}};
    if (s.n > 0) found.unit = runs_.frame.columns[column].unit;
    for (const std::size_t row : group.runs)
        if (s.n == 1 && runs_.frame.at(row, column).is_number())
            found.ci = runs_.frame.at(row, column).interval;
    return found;
}

std::vector<std::string> Groups::measurements() const {
    std::vector<std::string> present = runs_.asked.measurements;
    std::erase_if(present, [&](const auto& name) {
        return std::ranges::none_of(all, [&](const Group& group) { return has(group, name); });
    });
    return present;
}

std::string Groups::name(const Group& group) const {
    if (runs_.asked.keys.empty()) return names_[static_cast<std::size_t>(&group - all.data())];
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < keys.size() - apart.size(); ++i)
        parts.push_back(fmt::format("{} = {}", keys[i], group.key[i]));
    return base::join(parts, ", ");
}

// The titles grow from part to part: only groups whose titles are still the same get another one.
std::vector<std::string> Groups::titles(const std::vector<const Group*>& some,
                                        const std::set<std::string>& but) const {
    static const std::set<std::string> kNamed{"model",   "strategy", "op",  "from-model",
                                              "command", "mode",     "sync"};
    const auto value = [&](const Group& group, const std::string& name) {
        const std::size_t place = but.contains(name) ? keys.size() : place_of(name);
        return place < keys.size() ? group.key[place] : std::string();
    };
    std::vector<std::string> titles;
    for (const Group* group : some) {
        std::string title;
        for (const char* name : {"from-model", "model", "strategy", "op", "command"})
            if (title.empty()) title = value(*group, name);
        const std::string mode = value(*group, "mode"), sync = value(*group, "sync");
        if (!mode.empty()) title += (title.empty() ? "" : ", ") + mode;
        if (mode == "ddp" && !sync.empty()) title += " " + sync;
        titles.push_back(std::move(title));
    }
    std::vector<std::string> order{"batch-size", "global-batch-size", "files", "size", "data"};
    order.insert(order.end(), keys.begin(), keys.end());
    for (const auto& key : order) {
        if (kNamed.contains(key) || key == "ranks") continue;
        // The values by title and ranks.
        std::map<std::pair<std::string, std::string>, std::set<std::string>> values;
        const auto before = titles;
        for (std::size_t i = 0; i < some.size(); ++i)
            values[{before[i], value(*some[i], "ranks")}].insert(value(*some[i], key));
        for (std::size_t i = 0; i < some.size(); ++i)
            if (const auto text = value(*some[i], key);
                !text.empty() && values[{before[i], value(*some[i], "ranks")}].size() > 1)
                titles[i] += fmt::format(", {} {}", key, base::printable(text, 40));
    }
    return titles;
}

std::string Groups::common(const std::string& factor) const {
    std::set<std::string> values;
    for (const auto& group : all)
        if (group.valid()) values.insert(group.factor(factor));
    return values.size() == 1 ? *values.begin() : "";
}

}  // namespace ranklab::report::model
