#include "report/model/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "report/model/surroundings.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::report::model {
namespace {

using stats::Scaling;

// What must be equal along a curve: all settings, but that ranks share a batch (strong) or each has one of
// its own (weak). The single-device run is the base of all that differ only in how ranks work together.
struct CurveKey {
    std::string work;           // equal to the base's
    std::string between_ranks;  // equal at all points of several ranks
    auto operator<=>(const CurveKey&) const = default;
};

bool is_environment(const std::string& condition) {
    return condition.starts_with("environment.");
}

// What the groups of a curve are keyed by, beside what of their settings is free.
struct Keying {
    Scaling scaling = Scaling::weak;
    bool following = false;  // whether what the program chooses by the number of ranks counts too
    bool one_node = false;   // whether hosts do: on several nodes more ranks need other ones
};

// Surroundings are those of the base, too; the launcher's variables mean nothing to it.
void add_surroundings(CurveKey& key, const Group& group, const Keying& keying) {
    for (const auto& [name, value] : group.surroundings) {
        if (follows_from_ranks(name) && !(name == "hosts" && keying.one_node)) continue;
        (is_environment(name) ? key.between_ranks : key.work) += name + "=" + value + "\n";
    }
}

// The batch that stays the same along a curve, and the other one.
const char* held_batch(Scaling scaling) {
    return scaling == Scaling::weak ? "batch-size" : "global-batch-size";
}

const char* free_batch(Scaling scaling) {
    return scaling == Scaling::weak ? "global-batch-size" : "batch-size";
}

CurveKey curve_key(const Group& group, const Keying& keying) {
    const char* const free = free_batch(keying.scaling);
    CurveKey key;
    for (const auto& [name, value, number] : group.newest.config) {
        if (!vocabulary::matters_to(vocabulary::Asker::group, name, value) || name == free) continue;
        if (!keying.following && vocabulary::follows_ranks(name)) continue;
        (vocabulary::is_between_ranks(name) ? key.between_ranks : key.work) += name + "=" + value + "\n";
    }
    add_surroundings(key, group, keying);
    return key;
}

// Of a run that does not say which batch it holds nobody knows what its curve would show.
std::vector<const Group*> trained(const GroupedRuns& grouped, Scaling scaling) {
    std::vector<const Group*> groups;
    for (const auto& group : grouped.groups())
        if (group.newest.command == "train" && group.valid() && group.find("step_time_s") != nullptr &&
            !group.newest.setting(held_batch(scaling)).empty())
            groups.push_back(&group);
    return groups;
}

// Where somebody varied at one rank count what otherwise follows from the ranks, a curve keeps to one value.
bool varied(const std::vector<const Group*>& groups, Keying keying) {
    Keying whole = keying;
    whole.following = true;
    std::map<std::tuple<CurveKey, std::size_t, std::size_t>, CurveKey> met;
    return std::any_of(groups.begin(), groups.end(), [&](const Group* group) {
        const CurveKey key = curve_key(*group, whole);
        return met.try_emplace({curve_key(*group, keying), group->ranks, group->nodes}, key).first->second !=
               key;
    });
}

using Points = std::map<std::size_t, const Group*>;

void put_newer(const Group*& place, const Group& group) {
    if (place == nullptr || place->last_utc < group.last_utc) place = &group;
}

// Where points are not of some of the largest one's hosts: "hosts a | b c".
std::string other_hosts(const std::vector<const Group*>& points) {
    const auto hosts_of = [](const Group& group) {
        const auto found = group.surroundings.find("hosts");
        const auto names = base::split(found == group.surroundings.end() ? "" : found->second, ' ');
        return std::set<std::string>(names.begin(), names.end());
    };
    const auto most = hosts_of(*points.back());
    std::set<std::string> different;
    for (const Group* group : points) {
        const auto own = hosts_of(*group);
        if (!std::includes(most.begin(), most.end(), own.begin(), own.end()))
            different.insert(base::join({own.begin(), own.end()}, " "));
    }
    if (different.empty()) return "";
    different.insert(base::join({most.begin(), most.end()}, " "));
    return "hosts " + base::join({different.begin(), different.end()}, " | ");
}

// "threads 4, 2": along the points.
std::string differing_along(const std::vector<const Group*>& points) {
    std::string text;
    for (const auto& [name, value, number] : points.back()->newest.config) {
        if (!vocabulary::follows_ranks(name)) continue;
        std::string values;
        bool differs = false;
        for (const Group* group : points) {
            if (vocabulary::is_between_ranks(name) && is_single_device(group->newest)) continue;
            const std::string own = group->newest.setting(name);
            differs = differs || own != value;
            values += (values.empty() ? "" : ", ") + own;
        }
        if (differs) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", name, values);
    }
    const std::string hosts = other_hosts(points);
    return text + (text.empty() || hosts.empty() ? "" : "; ") + hosts;
}

}  // namespace

std::vector<CurveOfGroups> curves_of(const GroupedRuns& grouped, Scaling scaling) {
    const auto groups = trained(grouped, scaling);
    Keying keying{scaling, false, true};
    for (const Group* group : groups) keying.one_node = keying.one_node && group->nodes == 1;
    keying.following = varied(groups, keying);
    std::map<std::string, const Group*> alone;
    std::map<CurveKey, Points> curves;
    for (const Group* group : groups) {
        const CurveKey key = curve_key(*group, keying);
        put_newer(is_single_device(group->newest) ? alone[key.work] : curves[key][group->ranks], *group);
    }
    std::vector<CurveOfGroups> all;
    std::vector<const Group*> last;
    for (const auto& [key, points] : curves) {
        CurveOfGroups series;
        if (const auto base = alone.find(key.work); base != alone.end())
            series.points.push_back(base->second);
        for (const auto& [ranks, group] : points) series.points.push_back(group);
        if (series.points.size() < 2 || series.points.back()->ranks < 2 || all.size() == kMostCurves)
            continue;
        series.differing = differing_along(series.points);
        last.push_back(series.points.back());
        all.push_back(std::move(series));
    }
    const auto titles =
        group_titles(last, scaling == Scaling::weak ? NamedBatch::of_rank : NamedBatch::of_all);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].title = titles[i];
    return all;
}

}  // namespace ranklab::report::model
