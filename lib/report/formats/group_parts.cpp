#include "report/formats/group_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/model/values.hpp"

namespace ranklab::report::formats {
namespace {

// What a reader has to know first of what was pooled; the rest by the alphabet.
constexpr std::array kFirst{"ranks", "threads", "batch-size", "global-batch-size", "model", "mode", "sync"};

// Factors that differ inside the group are no noise: they have to be keys or conditions.
std::string differing(const model::KeyedGroup& group, const std::vector<std::string>& keys) {
    std::vector<std::string> names;
    for (const auto& name : group.factors.differing())
        if (std::ranges::find(keys, name) == keys.end()) names.push_back(name);
    const auto place = [](const std::string& name) {
        return std::ranges::find(kFirst, name) - kFirst.begin();
    };
    std::ranges::sort(names, [&](const std::string& a, const std::string& b) {
        return std::pair(place(a), a) < std::pair(place(b), b);
    });
    return names.empty() ? "" : "differ: " + model::some_of(names, 4);
}

}  // namespace

model::RunGroups grouped_runs(const model::ChosenRuns& runs, const Grouping& grouping) {
    model::RunGroups groups(grouping.keys, grouping.measurements, grouping.allow);
    runs.visit(results::Detail::summaries, [&](const results::Run& run) { groups.add(run); });
    groups.check_allowed();
    return groups;
}

std::vector<std::string> marks_of(const model::KeyedGroup& group, const model::ScalingRow& row,
                                  const std::vector<std::string>& keys) {
    std::vector<std::string> parts;
    const auto add = [&](const std::string& what, const std::string& text) {
        if (!text.empty()) parts.push_back(what + text);
    };
    add("oversubscribed: ", group.cores.oversubscribed());
    const auto add_both = [&](const char* begin, const char* end, const std::string& strong,
                              const std::string& weak) {
        const bool differ = row.strong.work > 0 && row.weak.work > 0 && strong != weak;
        if (!differ) return add(fmt::format("{}{}", begin, end), strong.empty() ? weak : strong);
        add(fmt::format("{}strong {}", begin, end), strong);
        add(fmt::format("{}weak {}", begin, end), weak);
    };
    add_both("not as the ", "base: ", model::some_of(row.strong.apart, 4), model::some_of(row.weak.apart, 4));
    add("no speedup: ", row.why_not);
    add_both("no ", "efficiency: ", row.strong.why_no_efficiency, row.weak.why_no_efficiency);
    if (group.unsummed > 0)
        add(group.unsummed == group.runs.size()
                ? ""
                : fmt::format("{} of {} runs: ", group.unsummed, group.runs.size()),
            "no gradients were summed: not the same training");
    if (group.disturbed > 0)
        parts.push_back(fmt::format("{} of {} runs disturbed by others on its hosts", group.disturbed,
                                    group.runs.size()));
    if (model::too_efficient(row.strong.efficiency) || model::too_efficient(row.weak.efficiency))
        parts.push_back(
            fmt::format("efficiency above {}: its base was slow, or is other work", model::kMostEfficiency));
    if (group.runs.size() == 1) parts.emplace_back("single run");
    if (group.invalid > 0) parts.push_back(fmt::format("{} INVALID left out", group.invalid));
    if (group.not_converged > 0) parts.push_back(fmt::format("{} not converged", group.not_converged));
    if (group.doubtful > 0) parts.push_back(fmt::format("{} with exit code 7", group.doubtful));
    if (group.cut_short > 0) parts.push_back(fmt::format("{} cut short", group.cut_short));
    add("", differing(group, keys));
    return parts;
}

}  // namespace ranklab::report::formats
