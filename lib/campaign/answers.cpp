// The questions of a campaign's sections (worth = 10).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "campaign/campaign.hpp"
#include "report/formats/formats.hpp"
#include "report/model/scaling.hpp"

namespace ranklab::campaign {
namespace {

using report::model::Groups;
using Rows = std::vector<std::size_t>;

// The groups of the campaign's sweeps of one program, by label and all keys of these sweeps.
Groups groups_of(const Campaign& campaign, const std::string& program,
                 const std::vector<std::string>& ignore) {
    std::vector<std::string> keys{"label"};
    std::string labels;
    for (const auto& sweep : campaign.sweeps) {
        if (sweep.program != program) continue;
        labels += (labels.empty() ? "label=" : ",") + sweep.label;
        for (const auto& key : sweep.keys)
            if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
    const report::model::ChosenRuns runs(
        results::ResultFile(campaign.output),
        {.conditions = {"command=" + program, "cut_short=", labels}});
    return {runs, {keys, {}, ignore}};
}

std::string answer(const Groups& groups, const std::string& label, double worth) {
    Rows own, others;
    for (const std::size_t group : groups.all())
        if (groups.valid(group))
            (groups.key(group, "label") == label ? own : others).push_back(group);
    if (own.empty() || others.empty()) return "not known: runs of a side are missing";
    const std::string time = report::model::common_time(groups, own.front(), others.front());
    const auto fastest = [&](const Rows& rows) {
        return *std::ranges::min_element(rows, {}, [&](std::size_t group) {
            const double seconds = groups.estimate(group, time).number;
            return std::isnan(seconds) ? HUGE_VAL : seconds;
        });
    };
    const std::size_t best = fastest(own), against = fastest(others);
    const auto [ratio, ci] = report::model::speedup_of(groups, against, best);
    const bool sure =
        std::isfinite(ci.low) && !groups.load(best).differs_from(groups.load(against));
    const char* const verdict = !std::isfinite(ratio)     ? "not known"
                                : sure && ci.low >= worth ? "yes"
                                : sure && ci.high < worth ? "no"
                                : std::isfinite(ci.low)   ? "undecided"
                                : ratio >= worth          ? "yes, by too few runs for an interval"
                                                          : "no, by too few runs for an interval";
    return fmt::format("{}: {} is {} times as fast as {}; at least {:g} times was asked for",
                       verdict, groups.name(best), report::readable(ratio, ci, "1"),
                       groups.name(against), worth);
}

}  // namespace

std::string answers_text(const Campaign& campaign, const std::vector<std::string>& ignore) {
    if (!std::filesystem::exists(campaign.output)) return "";
    std::string text;
    for (const auto& [place, worth] : campaign.questions) {
        const auto& sweep = campaign.sweeps[place];
        text += report::formats::screen_line(
            "worth it", answer(groups_of(campaign, sweep.program, ignore), sweep.label, worth));
    }
    return text;
}

}  // namespace ranklab::campaign
