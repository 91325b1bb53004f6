#include "report/model/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "report/model/io_ladder.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::report::model {
namespace {

using stats::Scaling;
using Groups = std::vector<const Group*>;

constexpr std::array kRankZeroAlone{"text-loop", "text-vectorized", "binary", "hdf5-serial"};

// What groups of one series may differ in.
struct Free {
    std::string setting;    // the one that goes with the width
    bool following = true;  // what the program chooses by the number of ranks
    bool hosts = false;     // on several nodes more ranks need other ones
};

SeriesKey key_of(const Group& group, const Free& free) {
    SeriesKey key;
    for (const auto& [name, value] : group.told_by()) {
        const bool follows = (vocabulary::follows_ranks(name) && free.following) ||
                             (follows_from_ranks(name) && !(name == "hosts" && !free.hosts));
        if (name != free.setting && !follows) key.add(name, value);
    }
    return key;
}

double width_of(const Group& group) {
    const auto workers = workers_of(group.newest);
    return workers > 0 ? static_cast<double>(workers) : static_cast<double>(group.ranks);
}

// Where somebody varied at one width what otherwise follows from the ranks, a series keeps to one value.
bool varied(const Groups& groups, const Free& free) {
    const Free whole{free.setting, false, free.hosts};
    std::map<std::tuple<SeriesKey, std::size_t, std::size_t, double>, SeriesKey> met;
    return std::ranges::any_of(groups, [&](const Group* group) {
        const SeriesKey key = key_of(*group, whole);
        const auto place = std::tuple(key_of(*group, free), group->ranks, group->nodes, width_of(*group));
        return met.try_emplace(place, key).first->second != key;
    });
}

void put_newer(const Group*& place, const Group& group) {
    if (place == nullptr || place->last_utc < group.last_utc) place = &group;
}

// Where points are not of some of the largest one's hosts: "hosts a | b c".
std::string other_hosts(const std::vector<SeriesPoint>& points) {
    const auto hosts_at = [](const SeriesPoint& point) {
        const auto found = point.group->conditions.find("hosts");
        const auto names = base::split(found == point.group->conditions.end() ? "" : found->second, ' ');
        return std::set<std::string>(names.begin(), names.end());
    };
    const auto text_of = [](const auto& all, const char* between) {
        return base::join({all.begin(), all.end()}, between);
    };
    const auto most = hosts_at(points.back());
    std::set<std::string> different;
    for (const auto& point : points) {
        const auto own = hosts_at(point);
        if (!std::includes(most.begin(), most.end(), own.begin(), own.end()))
            different.insert(text_of(own, " "));
    }
    if (different.empty()) return "";
    different.insert(text_of(most, " "));
    return "hosts " + text_of(different, " | ");
}

// "threads 4, 2": along the points, of what is not drawn.
std::string differing_along(const std::vector<SeriesPoint>& points, std::string_view drawn = "") {
    std::vector<std::string> parts;
    for (const auto& [name, value, number] : points.back().group->newest.config) {
        if (!vocabulary::follows_ranks(name) || name == drawn) continue;
        std::vector<std::string> values;
        for (const auto& [width, group] : points)
            if (!is_between_ranks(name) || !is_single_device(group->newest))
                values.push_back(group->newest.setting(name));
        if (std::set(values.begin(), values.end()).size() > 1)
            parts.push_back(fmt::format("{} {}", name, base::join(values, ", ")));
    }
    if (const auto hosts = other_hosts(points); !hosts.empty()) parts.push_back(hosts);
    return base::join(parts, "; ");
}

// That all its points have; "" where they differ.
std::string label_of(const Series& series) {
    const std::string label = series.base().label();
    const bool all = std::ranges::all_of(
        series.points, [&](const SeriesPoint& point) { return point.group->label() == label; });
    return all ? label : "";
}

void name(std::vector<Series>& all, const Groups& last, Named named) {
    std::vector<std::string> labels;
    for (const auto& series : all) labels.push_back(label_of(series));
    const auto titles = group_titles(last, labels, named);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].title = titles[i];
}

std::vector<Series> series_of(const Groups& groups, Free free, Named named) {
    for (const Group* group : groups) free.hosts = free.hosts || group->nodes > 1;
    free.following = !varied(groups, free);
    std::map<std::string, const Group*> alone;
    std::map<SeriesKey, std::map<double, const Group*>> met;
    for (const Group* group : groups) {
        const SeriesKey key = key_of(*group, free);
        put_newer(is_single_device(group->newest) ? alone[key.work] : met[key][width_of(*group)], *group);
    }
    std::vector<Series> all;
    Groups last;
    for (const auto& [key, points] : met) {
        Series series;
        if (const auto base = alone.find(key.work); base != alone.end())
            series.points.push_back({1, base->second});
        for (const auto& [width, group] : points) series.points.push_back({width, group});
        if (series.points.size() < 2 || series.points.back().width < 2 || all.size() == kMostSeries) continue;
        if (workers_of(series.base().newest) > 0) series.over = "worker";
        series.differing = differing_along(series.points);
        last.push_back(series.points.back().group);
        all.push_back(std::move(series));
    }
    name(all, last, named);
    return all;
}

Groups measured(const GroupedRuns& grouped, std::string_view command, std::string_view time) {
    Groups groups;
    for (const auto& group : grouped.groups())
        if (group.newest.command == command && group.valid() && group.find(time) != nullptr)
            groups.push_back(&group);
    return groups;
}

}  // namespace

std::vector<Series> thread_series(const GroupedRuns& grouped) {
    std::map<SeriesKey, std::map<std::size_t, const Group*>> met;
    for (const Group* group : measured(grouped, "train", vocabulary::kStepTime)) {
        SeriesKey key = key_of(*group, {"threads"});
        key.add("ranks", std::to_string(group->ranks));
        if (const std::size_t threads = threads_per_rank(group->newest); threads > 0)
            put_newer(met[key][threads], *group);
    }
    std::vector<Series> all;
    Groups last;
    for (const auto& [key, points] : met) {
        if (points.size() < 2 || all.size() == kMostSeries) continue;
        Series series;
        series.over = "thread";
        for (const auto& [threads, group] : points)
            series.points.push_back({static_cast<double>(threads), group});
        series.differing = differing_along(series.points, "threads");
        last.push_back(series.points.back().group);
        all.push_back(std::move(series));
    }
    name(all, last, Named::batch_of_rank);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].title += ", " + counted(last[i]->ranks, "rank");
    return all;
}

bool writes_on_rank_0(const results::Run& rung) {
    return std::ranges::count(kRankZeroAlone, rung.setting("strategy")) > 0;
}

std::vector<Series> training_series(const GroupedRuns& grouped, Scaling scaling) {
    const bool weak = scaling == Scaling::weak;
    const std::string of_rank = "batch-size", of_all = "global-batch-size";
    Groups groups = measured(grouped, "train", vocabulary::kStepTime);
    std::erase_if(groups,
                  [&](const Group* group) { return group->newest.setting(weak ? of_rank : of_all).empty(); });
    return series_of(groups, {weak ? of_all : of_rank}, weak ? Named::batch_of_rank : Named::batch_of_all);
}

std::vector<Series> writing_series(const GroupedRuns& grouped) {
    Groups groups = measured(grouped, "io", vocabulary::kJobTime);
    std::erase_if(groups, [](const Group* group) {
        return !is_rung(group->newest) || writes_on_rank_0(group->newest);
    });
    return series_of(groups, {"workers"}, Named::records);
}

}  // namespace ranklab::report::model
