#include "comm/standing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace ranklab::comm {

void Standing::add_activity(const std::string& text, const RankRanges& ranks) {
    if (text.empty()) return;
    const auto same = std::ranges::find(activities, text, &Activity::text);
    if (same != activities.end())
        same->ranks.add(ranks);
    else
        activities.push_back({text, ranks});
    shorten();
}

void Standing::add(const Standing& others) {
    silent.add(others.silent);
    unknown.add(others.unknown);
    at_others += others.at_others;
    for (const auto& one : others.activities) add_activity(one.text, one.ranks);
}

// The most common are what the job does; the rarest are where it sticks.
void Standing::shorten() {
    if (activities.size() <= kActivities) return;
    std::ranges::stable_sort(activities, std::greater<>(),
                             [](const Activity& one) { return one.ranks.count(); });
    const auto dropped = activities.begin() + kCommon;
    at_others += dropped->ranks.count();
    activities.erase(dropped);
}

std::string Standing::activities_text() const {
    auto sorted = activities;
    std::ranges::sort(sorted, {}, &Activity::text);
    std::vector<std::string> parts;
    for (const auto& [text, ranks] : sorted)
        parts.push_back(fmt::format("rank{} {}: {}", ranks.count() > 1 ? "s" : "", ranks.text(), text));
    if (at_others > 0) parts.push_back(fmt::format("{} at something else", at_others));
    return base::join(parts, ", ");
}

}  // namespace ranklab::comm
