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
    const auto add = [&](const char* what, const std::string& text) {
        if (!text.empty()) parts.push_back(what + text);
    };
    add("oversubscribed: ", group.cores.oversubscribed());
    add("not as the base: ", model::some_of(row.apart, 4));
    add("no speedup: ", row.why_not);
    add("no efficiency: ", row.why_no_efficiency);
    if (group.runs.size() == 1) parts.emplace_back("single run");
    if (group.invalid > 0) parts.push_back(fmt::format("{} INVALID left out", group.invalid));
    if (group.not_converged > 0) parts.push_back(fmt::format("{} not converged", group.not_converged));
    if (group.doubtful > 0) parts.push_back(fmt::format("{} with exit code 7", group.doubtful));
    if (group.cut_short > 0) parts.push_back(fmt::format("{} cut short", group.cut_short));
    add("", differing(group, keys));
    return parts;
}

}  // namespace ranklab::report::formats
