#include "report/model/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/model/ladder.hpp"
#include "report/model/values.hpp"
#include "stats/difference.hpp"
#include "vocabulary/facts.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;
using vocabulary::FactWord;
using Names = std::vector<std::string>;

constexpr const char* kCommand = "command";

std::vector<Caveat> caveats_of_run(const Run& run, const Cores& cores) {
    const bool unconverged = run.says(fact::kConverged, FactWord::no);
    const bool exit_7 = run.exit_code == static_cast<int>(base::ExitCode::invalid_measurement);
    const std::pair<CaveatKind, bool> all[] = {
        {CaveatKind::invalid, !run.valid},
        {CaveatKind::oversubscribed, cores.oversubscribed()},
        {CaveatKind::not_converged, unconverged},
        {CaveatKind::exit_7, exit_7 && !unconverged},
        {CaveatKind::cut_short, !run.cut_short().empty()},
        // Independent ranks: their speed does not say how fast they train together.
        {CaveatKind::not_summed,
         run.hosts.size() > 1 && run.says(fact::kSumsGradients, FactWord::no)},
        {CaveatKind::not_verified, run.find_table("verification") != nullptr &&
                                       run.verified() != results::CheckOutcome::passed}};
    std::vector<Caveat> found;
    for (const auto& [kind, holds] : all)
        if (holds) found.push_back({kind});
    return found;
}

void put_cores(Frame& frame, std::size_t row, const Cores& cores) {
    frame.set(row, {.name = "cores"}, cores.known() ? Cell(cores.count) : "n/a");
    frame.set(row, {.name = "cores_unit"}, cores.unit);
    frame.set(row, {.name = "cores_unknown"}, cores.why_not);
    frame.set(row, {.name = "oversubscription"}, cores.oversubscription);
}

Cores cores_in(const Frame& frame, std::size_t row) {
    const Cell& count = frame.at(row, "cores");
    return {.count = count.is_number() ? static_cast<std::size_t>(count.number) : 0,
            .unit = frame.at(row, "cores_unit").text,
            .why_not = frame.at(row, "cores_unknown").text,
            .oversubscription = frame.at(row, "oversubscription").text};
}

// A setting, or a condition that keeps runs apart, for a title.
std::string in_words(const std::string& key, const std::string& value) {
    if (key == "environment.OMPI_MCA_hwloc_base_binding_policy")
        return value == "none" ? "ranks not bound" : "ranks bound to " + value;
    if (key == "process.mpi") return "MPI " + value;
    if (key == "git_revision") return "revision " + value;
    return fmt::format("{} {}", key.substr(key.rfind('.') + 1), value);
}

// Columns of "yes" or "no" about the run's mode, sync and strategy, which Groups::says() reads.
void put_abilities(Frame& runs, const Run& run) {
    runs.put({.name = "single_device"}, is_single_device(run) ? "yes" : "no");
    runs.put({.name = "uses_sync"}, run.fact(fact::kUsesSync));
    runs.put({.name = "baseline_sync"}, run.fact(fact::kBaselineSync));
    runs.put({.name = "baseline_strategy"}, run.fact(fact::kIsBaseline));
    runs.put({.name = "has_workers"}, workers_of(run) > 0 ? "yes" : "no");
}

std::string text_of_all(const Frame& runs, const Places& members, std::size_t column) {
    if (members.empty()) return "";
    const std::string& first = runs.at(members.front(), column).text;
    const bool same = std::ranges::all_of(
        members, [&](std::size_t row) { return runs.at(row, column).text == first; });
    return same ? first : std::string(kVaries);
}

Frame table_of_runs(const ChosenRuns& chosen, const GroupQuery& query) {
    Frame runs;
    chosen.visit(results::Detail::summaries, [&](const Run& run) { add_run(runs, query, run); });
    return runs;
}

}  // namespace

bool is_surroundings(const Column& column) {
    return column.role == Role::condition ||
           (column.role == Role::factor &&
            vocabulary::role_of_fact(column.name) == vocabulary::FactRole::surroundings);
}

void add_run(Frame& runs, const GroupQuery& query, const Run& run) {
    const Cores cores = cores_of(run);
    const auto put_all = [&](Role role, const Conditions& values) {
        for (const auto& [name, value] : values) runs.put({.name = name, .role = role}, value);
    };
    runs.rows.push_back({{}, caveats_of_run(run, cores)});
    for (const auto& key : query.keys)
        runs.put({.name = key, .role = Role::key}, value_of(run, key));
    if (query.keys.empty()) put_all(Role::key, group_key_of(run));
    put_all(Role::condition, pooling_key_of(run));
    put_all(Role::factor, factors_of(run));
    put_all(Role::place, machine_of(run));
    runs.put({.name = "threads", .role = Role::place}, threads_text(run));
    put_cores(runs, runs.rows.size() - 1, cores);
    put_abilities(runs, run);
    runs.put({.name = "id"}, run.id);
    runs.put({.name = "label"}, run.label);
    runs.put({.name = "nodes"}, node_count(run));
    runs.put({.name = "other_load"}, other_load(run));
    for (const auto& table : run.tables)
        runs.put({.name = table.name, .role = Role::table}, rows_of(table).size());
    for (const auto& m : run.measurements) {
        if (m.summary.n == 0) continue;
        const double last = final_value(run, m.name);
        runs.put({.name = m.name, .unit = m.unit, .role = Role::measured, .interval = true},
                 last == m.summary.median ? Cell(last, m.summary.ci95) : Cell(last));
    }
}

std::vector<Caveat> caveats_of(const Run& run) {
    GroupQuery query;
    for (const auto& one : run.measurements) query.measurements.push_back(one.name);
    Frame runs;
    add_run(runs, query, run);
    const Groups groups(std::move(runs), query);
    return groups.size() == 0 ? std::vector<Caveat>() : groups.table().rows.front().caveats;
}

Groups::Groups(Frame runs, GroupQuery query) : runs_(std::move(runs)), query_(std::move(query)) {
    if (query_.labels_apart) keep_labels_apart();
    check_query();
    add_groups();
    for (const std::size_t group : all()) {
        std::vector<Cores> cores;
        for (const std::size_t run : members(group)) cores.push_back(cores_in(runs_, run));
        put_cores(table_, group, common_cores(cores));
        if (valid(group))
            table_.set(group, {.name = "nodes"},
                       runs_.at(members(group).back(), runs_.find("nodes", Role::derived)));
    }
    add_shared(Role::factor);
    add_shared(Role::place);
    for (const std::size_t group : all()) table_.rows[group].caveats = caveats_of(group);
    add_names();
    add_measured();
}

Groups::Groups(const ChosenRuns& runs, const GroupQuery& query)
    : Groups(table_of_runs(runs, query), query) {}

void Groups::keep_labels_apart() {
    Places columns = runs_.all(Role::key);
    columns.push_back(runs_.find("label", Role::derived));
    std::map<std::string, std::size_t> series;
    for (const auto& [values, rows] : runs_.group_by(columns)) ++series[values.back()];
    for (std::size_t row = 0; row < runs_.rows.size(); ++row)
        if (const auto& label = runs_.at(row, columns.back()).text; series[label] > 1)
            runs_.set(row, {.name = "label", .role = Role::condition}, label);
}

void Groups::check_query() {
    std::set<std::string> met, surroundings;
    for (const auto& key : query_.keys)
        if (key.empty() || !met.insert(key).second)
            throw base::OptionError(
                fmt::format("give distinct keys with commas between, such as ranks,sync; not '{}'",
                            key),
                {"group-by"});
    for (const auto& column : runs_.columns)
        if (is_surroundings(column)) surroundings.insert(column.name);
    if (!runs_.empty()) refuse_unknown_ignored(query_.ignore, surroundings);
    // By default the rate of each command, and the time that speedups compare.
    if (query_.measurements.empty()) query_.measurements = names_shown(vocabulary::Shown::groups);
}

// Adds a row per group with its keys and members. Conditions in which groups differ become keys,
// after the keys asked for.
void Groups::add_groups() {
    Places grouped = runs_.all(Role::key);
    const std::size_t asked = grouped.size();
    // Runs of different commands are never one group.
    if (!runs_.empty() && runs_.find(kCommand, Role::key) == runs_.columns.size())
        grouped.push_back(runs_.find(kCommand, Role::factor));
    for (const std::size_t column : runs_.all(Role::condition))
        if (const auto& name = runs_.columns[column].name;
            !is_ignored(name, query_.ignore) && std::ranges::count(query_.keys, name) == 0)
            grouped.push_back(column);
    std::vector<Names> keys;
    table_.add_column({.name = "runs"});
    for (const auto& [key, rows] : runs_.group_by(grouped)) {
        Places counted;
        std::size_t invalid = 0;
        for (const std::size_t row : rows) {
            const bool measured = std::ranges::any_of(query_.measurements, [&](const auto& name) {
                return runs_.at(row, runs_.find(name, Role::measured)).is_number();
            });
            if (runs_.rows[row].has(CaveatKind::invalid))
                ++invalid;
            else if (measured)
                counted.push_back(row);
            else if (runs_.at(row, runs_.find("ladder", Role::table)).empty())
                ++without_;  // a ladder's strategies have rows of their own
        }
        if (counted.empty() && invalid == 0) continue;
        keys.push_back(key);
        table_.rows.push_back({{}, {}, counted});
        table_.put({.name = "runs"}, counted.size());
        table_.put({.name = "invalid"}, invalid);
    }
    for (std::size_t i = 0; i < grouped.size(); ++i) {
        const auto& name = runs_.columns[grouped[i]].name;
        const bool differs =
            std::ranges::any_of(keys, [&](const Names& key) { return key[i] != keys.front()[i]; });
        if (i >= asked && !differs) continue;
        if (i >= asked) apart_.push_back(name);
        for (std::size_t row = 0; row < keys.size(); ++row)
            table_.set(row, {.name = name, .role = Role::key}, keys[row][i]);
    }
    for (const auto& key : query_.keys) table_.add_column({.name = key, .role = Role::key});
    table_.sort(table_.all(Role::key));
}

// Adds the values that all runs of a group share; kVaries if the runs differ.
void Groups::add_shared(Role role) {
    for (const std::size_t column : runs_.all(role))
        for (const std::size_t group : all())
            table_.set(group, {.name = runs_.columns[column].name, .role = role},
                       text_of_all(runs_, members(group), column));
}

// Adds the medians of the asked measurements. Counts have no unit.
void Groups::add_measured() {
    const auto shown = measurements();
    const bool has_whole = std::ranges::any_of(vocabulary::wholes(), [&](const auto* whole) {
        return std::ranges::count(shown, whole->name) > 0;
    });
    for (const auto& name : shown) {
        const auto* known = vocabulary::find_quantity(name);
        // Whatever the batch is, these times are of the same work.
        const bool equal_work =
            name == vocabulary::kEpochTime || name == "training_time_s" || name == "time_to_loss_s";
        if (!has_whole && asked_time_.empty() && equal_work) asked_time_ = name;
        const bool counts =
            known != nullptr && known->kind == vocabulary::Kind::count && unit(name) == "1";
        const Column column{.name = name,
                            .unit = counts ? "" : unit(name),
                            .role = Role::measured,
                            .interval = true,
                            .head = without_unit(name)};
        for (const std::size_t group : all())
            if (has(group, name)) table_.set(group, column, estimate(group, name));
    }
}

// Names a group by the keys asked for and their values, or by its title and ranks.
void Groups::add_names() {
    const auto titles = this->titles(all());
    for (const std::size_t group : all()) {
        const std::string& ranks = key(group, setting::kRanks);
        std::string name =
            fmt::format("{}, {} rank{}", titles[group], ranks, ranks == "1" ? "" : "s");
        Names parts;
        for (const auto& asked : query_.keys)
            parts.push_back(fmt::format("{} = {}", asked, key(group, asked)));
        if (!parts.empty()) name = base::join(parts, ", ");
        table_.set(group, {.name = "title", .role = Role::derived, .head = "group"}, titles[group]);
        table_.set(group, {.name = "group"}, name);
    }
}

std::vector<Caveat> Groups::caveats_of(std::size_t group) const {
    const std::size_t runs = members(group).size();
    std::vector<Caveat> caveats;
    const auto count = [&](CaveatKind kind) {
        return static_cast<std::size_t>(std::ranges::count_if(
            members(group), [&](std::size_t run) { return runs_.rows[run].has(kind); }));
    };
    if (const std::size_t some = count(CaveatKind::oversubscribed); some > 0)
        caveats.push_back(
            {CaveatKind::oversubscribed,
             cores(group).oversubscription + (some == runs ? "" : ", " + some_runs(some, runs))});
    if (count(CaveatKind::not_summed) > 0) caveats.push_back({CaveatKind::not_summed});
    if (const OtherLoad others = load(group); others.busy > 0 || others.measured < runs)
        caveats.push_back({others.busy > 0 ? CaveatKind::other_load : CaveatKind::load_not_measured,
                           others.text()});
    if (runs == 1) caveats.push_back({CaveatKind::single_run});
    if (const auto invalid = exact(table_.at(group, "invalid")); invalid != "0")
        caveats.push_back({CaveatKind::left_out, invalid});
    for (const CaveatKind kind :
         {CaveatKind::not_converged, CaveatKind::exit_7, CaveatKind::cut_short})
        if (const std::size_t some = count(kind); some > 0)
            caveats.push_back({kind, some_runs(some, runs)});
    Names differing = query_.keys.empty() ? Names() : varying(group);
    std::erase_if(differing,
                  [&](const auto& name) { return std::ranges::count(query_.keys, name) > 0; });
    if (text_of_all(runs_, members(group), runs_.find("label", Role::derived)) == kVaries)
        differing.emplace_back("label");
    if (!differing.empty()) caveats.push_back({CaveatKind::differs, some_of(differing, 4)});
    if (count(CaveatKind::not_verified) > 0) caveats.push_back({CaveatKind::not_verified});
    return caveats;
}

std::vector<Groups> Groups::by_command() const {
    std::vector<Groups> parts;
    for (const auto& [command, rows] : runs_.group_by({runs_.find(kCommand, Role::factor)})) {
        Frame some = runs_;
        some.rows.clear();
        for (const std::size_t row : rows) some.rows.push_back(runs_.rows[row]);
        parts.emplace_back(std::move(some), query_);
    }
    return parts;
}

std::vector<std::size_t> Groups::all() const {
    std::vector<std::size_t> groups(size());
    std::iota(groups.begin(), groups.end(), std::size_t{0});
    return groups;
}

Names Groups::keys() const {
    Names names;
    for (const std::size_t column : table_.all(Role::key))
        names.push_back(table_.columns[column].name);
    return names;
}

bool Groups::has_key(std::string_view key) const {
    return table_.find(key, Role::key) < table_.columns.size();
}

const std::string& Groups::key(std::size_t group, std::string_view name) const {
    return table_.at(group, table_.find(name, Role::key)).text;
}

const std::string& Groups::factor(std::size_t group, std::string_view name) const {
    static const std::string kNone;
    const auto& text = table_.at(group, table_.find(name, Role::factor)).text;
    return text == kVaries ? kNone : text;
}

const std::string& Groups::newest(std::size_t group) const {
    return runs_.at(members(group).back(), "id").text;
}

Cores Groups::cores(std::size_t group) const {
    return cores_in(table_, group);
}

OtherLoad Groups::load(std::size_t group) const {
    std::vector<double> shares;
    const std::size_t column = runs_.find("other_load");
    for (const std::size_t run : members(group)) shares.push_back(runs_.at(run, column).number);
    return OtherLoad(shares);
}

bool Groups::says(std::size_t group, std::string_view column) const {
    return text_of_all(runs_, members(group), runs_.find(column)) == "yes";
}

Names Groups::varying(std::size_t group) const {
    return differing(group, group);
}

Names Groups::differing(std::size_t a, std::size_t b) const {
    std::set<std::string> names;
    for (const std::size_t column : table_.all(Role::factor)) {
        const auto& text = table_.at(a, column).text;
        if (text == kVaries || text != table_.at(b, column).text)
            names.insert(table_.columns[column].name);
    }
    return {names.begin(), names.end()};
}

std::vector<double> Groups::values(std::size_t group, std::string_view measurement) const {
    std::vector<double> values;
    const std::size_t column = runs_.find(measurement, Role::measured);
    for (const std::size_t run : members(group))
        if (const Cell& cell = runs_.at(run, column); cell.is_number())
            values.push_back(cell.number);
    return values;
}

Cell Groups::estimate(std::size_t group, std::string_view measurement) const {
    const std::size_t column = runs_.find(measurement, Role::measured);
    const stats::Summary s =
        stats::summarise_runs(values(group, measurement), is_rate(measurement));
    for (const std::size_t run : members(group))
        if (s.n == 1 && runs_.at(run, column).is_number()) return runs_.at(run, column);
    return {s.median, s.ci95};
}

std::string Groups::unit(std::string_view measurement) const {
    const std::size_t column = runs_.find(measurement, Role::measured);
    return column < runs_.columns.size() ? runs_.columns[column].unit : "";
}

Names Groups::measurements() const {
    Names present = query_.measurements;
    std::erase_if(present, [&](const auto& name) {
        return std::ranges::none_of(all(), [&](std::size_t group) { return has(group, name); });
    });
    return present;
}

// Appends key after key, each only to groups whose titles are still equal.
Names Groups::titles(const std::vector<std::size_t>& some, const std::set<std::string>& but) const {
    static const std::set<std::string> kNamed{"model",   "strategy", "op",  "from-model",
                                              "command", "mode",     "sync"};
    const auto value = [&](std::size_t group, const std::string& name) {
        return but.contains(name) ? std::string() : key(group, name);
    };
    Names titles;
    for (const std::size_t group : some) {
        std::string title;
        for (const char* name : {"from-model", "model", "strategy", "op", "command"}) {
            title = value(group, name);
            if (!key(group, name).empty()) break;
        }
        const std::string mode = value(group, "mode"), sync = value(group, "sync");
        if (!mode.empty()) title += (title.empty() ? "" : ", ") + mode;
        if (says(group, "uses_sync") && !sync.empty()) title += " " + sync;
        titles.push_back(std::move(title));
    }
    Names order{"batch-size", "global-batch-size", "files", "size", "data"};
    std::ranges::move(keys(), std::back_inserter(order));
    for (const auto& key : order) {
        if (kNamed.contains(key) || key == "ranks") continue;
        // The key's values by title and ranks.
        std::map<std::pair<std::string, std::string>, std::set<std::string>> values;
        const auto before = titles;
        for (std::size_t i = 0; i < some.size(); ++i)
            values[{before[i], value(some[i], "ranks")}].insert(value(some[i], key));
        for (std::size_t i = 0; i < some.size(); ++i)
            if (const auto text = value(some[i], key);
                !text.empty() && values[{before[i], value(some[i], "ranks")}].size() > 1)
                titles[i] += ", " + in_words(key, base::printable(text, 40));
    }
    return titles;
}

std::string Groups::common(std::string_view name) const {
    std::set<std::string> values;
    for (const std::size_t group : all())
        if (valid(group)) values.insert(factor(group, name));
    return values.size() == 1 ? *values.begin() : "";
}

}  // namespace ranklab::report::model
