#include "report/model/grouped_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "report/model/io_ladder.hpp"
#include "report/model/surroundings.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;

std::size_t nodes_of(const Run& run) {
    return std::max<std::size_t>(1, node_count(run));
}

// Not all ranks of the job write in every strategy of io.
std::size_t ranks_in(const Run& run) {
    const std::size_t hosts = std::max<std::size_t>(1, run.hosts.size());
    if (run.command != "io") return hosts;
    std::string text = run.fact("storage", "participants");
    if (text.empty()) text = run.setting("ranks");  // a run of 0.1.0
    return text.empty() ? hosts : std::max<std::size_t>(1, std::strtoul(text.c_str(), nullptr, 10));
}

bool tells_apart(const std::string& setting, const std::string& value) {
    return vocabulary::matters_to(vocabulary::Asker::group, setting, value);
}

std::string key_of(const Run& run, const Conditions& surroundings) {
    std::string key = fmt::format("{}\n{}\n{}", run.command, ranks_in(run), nodes_of(run));
    const bool alone = is_single_device(run);
    for (const auto& [name, value, number] : run.config)
        if (tells_apart(name, value) && (name == "mode" || !alone || !vocabulary::is_between_ranks(name)))
            key += fmt::format("\n{}={}", name, value);
    for (const auto& [name, value] : surroundings) key += fmt::format("\n{}={}", name, value);
    return key;
}

// Several ranks or workers of one strategy are no ladder. Its table may not have been read.
bool compares_strategies(const Run& run) {
    const std::string strategies = run.setting("strategy");
    return run.command == "io" && run.measurements.empty() &&
           (strategies == "all" || strategies.find(',') != std::string::npos);
}

// Each host once, with each kind of device and number of threads.
void slim_hosts(std::vector<results::HostRow>& hosts) {
    std::set<std::tuple<std::string, std::string, int>> met;
    std::erase_if(hosts, [&](const results::HostRow& row) {
        return !met.insert({row.host, device_kind(row.device), row.threads}).second;
    });
}

// What a page needs of many runs; the rest of context and long tables are read again for the few shown.
void slim(Run& run, std::size_t ranks) {
    if (run.setting("ranks").empty()) run.config.push_back({"ranks", fmt::format("{}", ranks), true});
    std::erase_if(run.context, [](const results::Fact& fact) {
        return fact.section != "communication" && fact.section != "storage" &&
               !is_decisive_fact(fact.section + "." + fact.key, fact.value);
    });
    slim_hosts(run.hosts);
    std::erase_if(run.tables, [](const results::Table& table) {
        return table.name != "ladder" && table.name != "communication" && table.name != "phases" &&
               table.name != "io_reads";
    });
    for (auto& m : run.measurements) {
        m.samples = {};
        m.warmup = {};
    }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> Group::told_by() const {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& [key, value, number] : newest.config)
        if (tells_apart(key, value)) all.emplace_back(key, value);
    all.insert(all.end(), conditions.begin(), conditions.end());
    return all;
}

std::string Group::label() const {
    return labels_.size() == 1 ? *labels_.begin() : "";
}

void Group::add_label(const std::string& label) {
    if (labels_.size() < 2) labels_.insert(label);
}

bool has_numbers(const Group& group) {
    return !group.newest.measurements.empty() || !group.newest.valid;
}

void GroupedRuns::note_facts(const Run& run) {
    std::set<std::string> names;
    for (const auto& row : run.hosts) names.insert(row.host);
    for (const auto& name : names)
        if (hosts_.size() < 1000 || hosts_.contains(name)) hosts_[name] += 1;
    const auto count = [&](const std::string& fact, const std::string& value) {
        auto& values = facts_[fact];
        const bool full = values.size() >= kMostValues && !values.contains(value);
        values[full ? "(others)" : value] += 1;
    };
    for (const auto& fact : run.context)
        if (fact.section != "communication" && fact.key != "instance")
            count(fact.section + "." + fact.key, fact.value);
    count("ranklab.version", run.version);
    count("ranklab.git_revision", run.git_revision);
}

Group& GroupedRuns::group_of(const Run& run) {
    Conditions surroundings = surroundings_of(run);
    const std::string key = key_of(run, surroundings);
    Group& group = groups_[key];
    if (group.all() == 0) {
        group.ranks = ranks_in(run);
        group.nodes = nodes_of(run);
        group.conditions = std::move(surroundings);
    }
    return group;
}

// One that was cut short takes the place of no whole one.
void GroupedRuns::note_ladder(const Run& run, std::size_t group) {
    if (!compares_strategies(run) || !run.valid) return;
    const std::string directory = run.setting("directory"), cut = run.cut_short();
    StoredLadder& ladder = ladders_[fmt::format("{}\n{}\n{}\n{}", group, run.label, directory, !cut.empty())];
    if (ladder.started_utc <= run.started_utc)
        ladder = {run.id, run.label, directory, run.started_utc, group, cut};
}

void GroupedRuns::add(Run&& run) {
    runs_ += 1;
    if (first_utc_.empty() || run.started_utc < first_utc_) first_utc_ = run.started_utc;
    last_utc_ = std::max(last_utc_, run.started_utc);
    note_facts(run);
    if (!run.valid) {
        invalid_ += 1;
        invalid_runs_.add(run.warnings.empty() ? "no reason was stored" : run.warnings.front(), run.id);
    } else {
        for (const auto& warning : run.warnings) warnings_.add(warning, run.id);
    }
    Group& group = group_of(run);
    group.count(run);
    group.add_label(run.label);
    note_ladder(run, static_cast<std::size_t>(&group - groups_.all().data()));
    if (run.valid)
        for (const auto& m : run.measurements) group.add_value(m);
    if (run.valid || !group.valid()) {
        slim(run, group.ranks);
        group.verified = "";
        group.newest = std::move(run);
    }
}

void GroupedRuns::complete(const std::function<Run(const std::string&)>& read, std::size_t most) {
    std::vector<Group*> groups;
    for (auto& group : groups_.all()) groups.push_back(&group);
    std::ranges::stable_sort(groups,
                             [](const Group* a, const Group* b) { return a->last_utc > b->last_utc; });
    if (groups.size() > most) groups.resize(most);
    std::ranges::sort(groups);
    for (Group* group : groups) {
        group->newest = read(group->newest.id);
        group->verified = group->newest.verified();
        slim(group->newest, group->ranks);
        const bool single = group->newest.find_table("ladder") == nullptr;
        if (group->newest.valid && single && group->verified != "yes")
            (group->verified == "NO" ? failed_ : unverified_).push_back(group->newest.id);
    }
}

std::vector<std::string> kept_apart(const GroupedRuns& grouped) {
    std::map<std::string, std::map<std::string, std::set<std::string>>> values;  // key -> who -> values
    for (const auto& group : grouped.groups()) {
        for (const auto& [key, value] : group.conditions) {
            const bool follows = follows_from_ranks(key);
            const auto who = follows ? fmt::format("{} {}", group.ranks, group.nodes) : "";
            values[key][group.newest.command + who].insert(value);
        }
    }
    std::vector<std::string> lines;
    for (const auto& [key, of_some] : values) {
        std::set<std::string> different;
        for (const auto& [who, some] : of_some)
            if (some.size() > 1) different.insert(some.begin(), some.end());
        if (!different.empty()) lines.push_back(fmt::format("{}: {}", key, some_of(different, 4, " | ", 60)));
    }
    return lines;
}

std::vector<const Group*> recent_groups(const GroupedRuns& grouped, const std::string& command,
                                        std::size_t most) {
    std::vector<const Group*> groups;
    for (const auto& group : grouped.groups())
        if ((command.empty() || group.newest.command == command) && has_numbers(group))
            groups.push_back(&group);
    if (groups.size() <= most) return groups;
    std::vector<const Group*> newest = groups;
    std::nth_element(newest.begin(), newest.begin() + static_cast<std::ptrdiff_t>(most), newest.end(),
                     [](const Group* a, const Group* b) { return a->last_utc > b->last_utc; });
    newest.resize(most);
    std::erase_if(groups,
                  [&](const Group* group) { return std::ranges::find(newest, group) == newest.end(); });
    return groups;
}

}  // namespace ranklab::report::model
