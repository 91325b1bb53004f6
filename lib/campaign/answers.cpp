// The verdicts of a campaign's sections, and the answers to their questions (key `worth`).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "campaign/campaign.hpp"
#include "campaign/sweep.hpp"
#include "report/figures/figure.hpp"
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

// Compares the section's best group with the other sections' best one, and adds both's caveats.
std::string answer(const Groups& groups, const std::string& label, double worth) {
    Rows own, others;
    for (const std::size_t group : groups.all())
        if (groups.valid(group))
            (groups.key(group, "label") == label ? own : others).push_back(group);
    if (own.empty() || others.empty())
        return fmt::format("not known: {} no valid run",
                           own.empty() ? label + " has" : "the other sections have");
    const std::string time = report::model::common_time(groups, own.front(), others.front());
    const auto fastest = [&](const Rows& rows) {
        return *std::ranges::min_element(rows, {}, [&](std::size_t group) {
            const double seconds = groups.estimate(group, time).number;
            return std::isnan(seconds) ? HUGE_VAL : seconds;
        });
    };
    const std::size_t best = fastest(own), against = fastest(others);
    report::Finding finding{.verdict = report::Verdict::worth_undecided,
                            .subject = groups.name(best),
                            .row = best,
                            .against = groups.name(against),
                            .value = fmt::format("{:g}", worth),
                            .ratio = report::model::speedup_of(groups, against, best)};
    if (!groups.load(best).differs_from(groups.load(against))) {
        if (finding.ratio.ci.low >= worth) finding.verdict = report::Verdict::worth;
        if (finding.ratio.ci.high < worth) finding.verdict = report::Verdict::not_worth;
    }
    std::string text = sentence(finding);
    for (const auto& doubt : report::figures::doubts_of(groups.table(), {best, against}))
        text += "; " + sentence(doubt);
    return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> questions_of(
    const Campaign& campaign, const std::vector<std::string>& ignore) {
    std::vector<std::pair<std::string, std::string>> asked;
    for (const auto& [place, worth] : campaign.questions) {
        const auto& sweep = campaign.sweeps[place];
        asked.emplace_back(fmt::format("Is {} at least {:g} times as fast as the other sections?",
                                       sweep.label, worth),
                           answer(groups_of(campaign, sweep.program, ignore), sweep.label, worth));
    }
    return asked;
}

std::string answers_text(const Campaign& campaign, const std::vector<std::string>& ignore) {
    if (!std::filesystem::exists(campaign.output)) return "";
    std::string text;
    for (const auto& sweep : campaign.sweeps) {
        const auto groups = groups_of(sweep, ignore);
        if (!groups || groups->size() == 0) continue;
        const std::string name = sweep.label.starts_with(campaign.name + "-")
                                     ? sweep.label.substr(campaign.name.size() + 1)
                                     : sweep.label;
        for (const auto& finding : report::model::scaling_of(*groups).findings)
            text += report::formats::screen_line(name + (name.size() > 13 ? " " : ""),
                                                 sentence(finding));
    }
    for (const auto& [question, found] : questions_of(campaign, ignore))
        text += report::formats::screen_line("worth it", found);
    return text;
}

}  // namespace ranklab::campaign
