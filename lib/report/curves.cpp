#include "report/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "report/single_device.hpp"

namespace ranklab::report {
namespace {

using stats::Scaling;

// What must be equal along a curve: all settings, but that ranks share a batch (strong) or each has one of
// its own (weak). The single-device run is the base of all that differ only in how ranks work together.
struct CurveKey {
    std::string work;           // equal to the base's
    std::string between_ranks;  // equal at all points of several ranks
    auto operator<=>(const CurveKey&) const = default;
};

// `following`: whether what the program chooses by the number of ranks counts too.
CurveKey curve_key(const Group& group, Scaling scaling, bool following) {
    const char* const free = scaling == Scaling::weak ? "global-batch-size" : "batch-size";
    CurveKey key;
    for (const auto& [name, value, number] : group.newest.config) {
        if (!tells_apart(name) || name == free || (!following && follows_ranks(name))) continue;
        (is_between_ranks(name) ? key.between_ranks : key.work) += name + "=" + value + "\n";
    }
    return key;
}

std::vector<const Group*> trained(const Campaign& campaign) {
    std::vector<const Group*> groups;
    for (const auto& group : campaign.groups())
        if (group.newest.command == "train" && group.valid > 0 && group.newest.find("step_time_s") != nullptr)
            groups.push_back(&group);
    return groups;
}

// Where somebody varied at one rank count what otherwise follows from the ranks, a curve keeps to one value.
bool varied(const std::vector<const Group*>& groups, Scaling scaling) {
    std::map<std::tuple<CurveKey, std::size_t, std::size_t>, CurveKey> met;
    return std::any_of(groups.begin(), groups.end(), [&](const Group* group) {
        const CurveKey whole = curve_key(*group, scaling, true);
        return met.try_emplace({curve_key(*group, scaling, false), group->ranks, group->nodes}, whole)
                   .first->second != whole;
    });
}

using Points = std::map<std::size_t, const Group*>;

void put_newer(const Group*& place, const Group& group) {
    if (place == nullptr || place->last_utc < group.last_utc) place = &group;
}

// "threads 4, 2": along the points.
std::string differing_along(const std::vector<const Group*>& points) {
    std::string text;
    for (const auto& [name, value, number] : points.back()->newest.config) {
        if (!follows_ranks(name)) continue;
        std::string values;
        bool differs = false;
        for (const Group* group : points) {
            if (is_between_ranks(name) && is_single_device(group->newest)) continue;
            const std::string own = group->newest.setting(name);
            differs = differs || own != value;
            values += (values.empty() ? "" : ", ") + own;
        }
        if (differs) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", name, values);
    }
    return text;
}

}  // namespace

std::vector<CurveOfGroups> curves_of(const Campaign& campaign, Scaling scaling) {
    const auto groups = trained(campaign);
    const bool following = varied(groups, scaling);
    std::map<std::string, const Group*> alone;
    std::map<CurveKey, Points> curves;
    for (const Group* group : groups) {
        const CurveKey key = curve_key(*group, scaling, following);
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

}  // namespace ranklab::report
