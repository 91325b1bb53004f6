// The table of a sweep's runs, and its verdict.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/shell_path.hpp"
#include "base/text.hpp"
#include "base/wrap.hpp"
#include "campaign/sweep.hpp"
#include "report/formats/formats.hpp"
#include "report/model/scaling.hpp"
#include "report/model/values.hpp"

namespace ranklab::campaign {
namespace {

using report::model::ChosenRuns;
using report::model::KeyedGroup;
using report::model::RunGroups;

bool is_time(const std::string& name) {
    return name.find("time") != std::string::npos;
}

// How many times as much the runs of `a` do in the same time.
stats::RatioEstimate ratio_of(const KeyedGroup& a, const KeyedGroup& b, const std::string& name) {
    const auto &first = a.find(name)->medians, &second = b.find(name)->medians;
    return is_time(name) ? stats::estimate_ratio(second, first) : stats::estimate_ratio(first, second);
}

std::string ratio_text(const stats::RatioEstimate& ratio) {
    if (std::isnan(ratio.ci.low))
        return fmt::format("{} times as fast as", report::model::number(ratio.ratio));
    return fmt::format("{} times (95 % interval {} .. {}) as fast as", report::model::number(ratio.ratio),
                       report::model::number(ratio.ci.low), report::model::number(ratio.ci.high));
}

// Points may do other work, so that a rate says more than a time.
std::vector<std::string> rates_first() {
    auto names = report::model::headline_measurements();
    std::ranges::stable_partition(names, [](const auto& name) { return !is_time(name); });
    return names;
}

// The fastest row against the first one, or where that is the fastest against the next: for points that do
// not scale over ranks, threads or workers, of which the scaling's own lines say nothing.
std::string verdict(const std::vector<KeyedGroup>& groups, const std::vector<std::string>& keys) {
    for (const auto& name : rates_first()) {
        std::vector<const KeyedGroup*> rows;
        for (const auto& group : groups)
            if (group.find(name) != nullptr) rows.push_back(&group);
        if (rows.size() < 2) continue;
        const auto slower = [&](const KeyedGroup* a, const KeyedGroup* b) {
            return ratio_of(*a, *b, name).ratio < 1;
        };
        const KeyedGroup* const best = *std::ranges::max_element(rows, slower);
        const KeyedGroup* other = rows.front();
        if (best == other) other = *std::max_element(rows.begin() + 1, rows.end(), slower);
        const auto ratio = ratio_of(*best, *other, name);
        const char* const doubt = std::isnan(ratio.ci.low) ? "; too few runs to tell how surely"
                                  : ratio.ci.low <= 1      ? "; they may be as fast"
                                                           : "";
        return base::wrapped("", fmt::format("best: {} is {} {} ({}){}", key_text(*best, keys),
                                             ratio_text(ratio), key_text(*other, keys), name, doubt)) +
               '\n';
    }
    return "";
}

}  // namespace

std::string table_text(const Sweep& sweep, const std::vector<std::string>& allow) {
    if (!std::filesystem::exists(sweep.output)) return "";
    report::model::Choice choice;
    choice.label = sweep.label;
    choice.conditions = {"command=" + sweep.program, "cut_short="};
    const ChosenRuns runs(results::ResultFile(sweep.output), choice);
    if (runs.headers().empty()) return "";
    RunGroups groups(sweep.keys, {}, allow);
    runs.visit(results::Detail::summaries, [&](results::Run&& run) { groups.add(run); });
    const auto sorted = groups.sorted();
    std::string text;
    if (report::model::scaling_of(sorted, groups.keys(), runs.loader()).best.empty())
        text = verdict(sorted, groups.keys());
    report::formats::write_group_text(runs, {sweep.keys, {}, allow},
                                      [&](std::string_view part) { text += part; });
    return text + fmt::format("\nNext: ranklab report {} --label {} --group-by {}\n",
                              base::shell_path(sweep.output.string()), base::shell_quote({sweep.label}),
                              base::join(sweep.keys, ","));
}

}  // namespace ranklab::campaign
