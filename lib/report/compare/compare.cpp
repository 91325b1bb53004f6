#include "report/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/compare/parts.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::compare {
namespace {

using results::Run;
using Names = std::vector<std::string>;

void add_new(Names& names, const std::string& name) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
}

void count_left_out(SideSummary& side, const std::string& reason) {
    for (auto& [known, runs] : side.left_out)
        if (known == reason) return void(++runs);
    side.left_out.push_back({reason, 1});
}

Runs usable_runs(const Side& side, SideSummary& summary, bool with_unverified) {
    Runs usable;
    for (const auto& run : side.runs) {
        const std::string reason = reason_to_leave_out(run, with_unverified);
        if (!reason.empty()) {
            count_left_out(summary, reason);
            continue;
        }
        usable.push_back(&run);
        add_new(summary.labels, run.label);
        add_new(summary.versions, run.version);
        add_new(summary.revisions, run.git_revision);
        if (summary.first_utc.empty() || run.started_utc < summary.first_utc)
            summary.first_utc = run.started_utc;
        summary.last_utc = std::max(summary.last_utc, run.started_utc);
    }
    summary.runs = usable.size();
    return usable;
}

void need_runs(const char* which, const SideSummary& side) {
    if (side.runs > 0) return;
    std::vector<std::string> reasons;
    for (const auto& [reason, runs] : side.left_out)
        reasons.push_back(fmt::format("{} {}", runs, base::printable(reason, 60)));
    const bool unverified =
        std::ranges::any_of(side.left_out, [](const LeftOut& one) { return one.reason == "not verified"; });
    throw base::Error(fmt::format("{} ({}) has no run that could be compared: {}; measure again{}", which,
                                  base::printable(side.name, 100),
                                  reasons.empty() ? "it is empty" : base::join(reasons, ", "),
                                  unverified ? ", or let those count that were not verified" : ""),
                      base::ExitCode::invalid_measurement,
                      unverified ? base::Settings{"with-unverified"} : base::Settings{});
}

Names measurements_of(const std::string& command, const Runs& runs, const Names& asked) {
    if (asked.empty()) return headline_measurements(command, runs);
    const Names all = all_measurements(runs);
    if (asked == Names{"all"}) return all;
    Names chosen;
    for (const auto& name : asked) {
        if (std::ranges::find(all, name) != all.end()) add_new(chosen, name);
    }
    return chosen;
}

void check_asked(const Names& asked, const Runs& runs) {
    if (asked == Names{"all"}) return;
    const Names all = all_measurements(runs);
    for (const auto& name : asked) {
        if (std::ranges::find(all, name) != all.end()) continue;
        const std::string near = base::did_you_mean(name, all);
        throw base::OptionError(
            fmt::format("no run has the measurement '{}'; {}", base::printable(name, 60),
                        near.empty() ? fmt::format("there are {}", base::join(all, ", ")) : near));
    }
}

// "" where the sides took turns.
std::string order_note(const LikeRuns& a, const LikeRuns& b) {
    const bool a_first = a.last_utc < b.first_utc;
    if (!a_first && !(b.last_utc < a.first_utc)) return "";
    return fmt::format(
        "all runs of {} were before all of {}: a drift of the machine cannot be told from a change; measure "
        "them in turn",
        a_first ? "A" : "B", a_first ? "B" : "A");
}

std::size_t shared_runs(const LikeRuns& a, const LikeRuns& b) {
    const std::set<std::string> ids(a.runs.begin(), a.runs.end());
    return static_cast<std::size_t>(
        std::ranges::count_if(b.runs, [&](const auto& id) { return ids.contains(id); }));
}

bool are_same(const CompareGroup& group) {
    return group.shared == group.runs_a && group.runs_a == group.runs_b;
}

std::string shared_note(const CompareGroup& group) {
    if (are_same(group)) return "A and B are the same runs: they say nothing of a difference";
    return group.shared == 0
               ? ""
               : fmt::format("{} of the runs are on both sides: they say nothing of a difference",
                             group.shared);
}

// "" where no run of either side says that it was.
std::string disturbed_note(const LikeRuns& a, const LikeRuns& b) {
    if (a.disturbed + b.disturbed == 0) return "";
    return fmt::format(
        "their hosts were not quiet (busy-cpus): {} of {} of A, {} of {} of "
        "B; that, too, may be what differs",
        a.disturbed, model::counted(a.runs.size(), "run"), b.disturbed, model::counted(b.runs.size(), "run"));
}

// "" where each run had a process of its own.
std::string repeated_note(const char* side, const Runs& runs) {
    std::set<std::string> processes;
    for (const Run* run : runs) processes.insert(process_of(*run));
    if (processes.size() == runs.size()) return "";
    return fmt::format(
        "the {} runs of {} were made by {} process{}: repetitions within one are no independent runs, so "
        "each process counts once, with its median; start a new process for each run",
        runs.size(), side, processes.size(), processes.size() == 1 ? "" : "es");
}

CompareGroup group_of(const LikeRuns& a, const LikeRuns& b, const CompareOptions& options) {
    CompareGroup group;
    group.command = a.conditions.at("command");
    for (const auto& [key, value] : a.conditions) {
        if (key != "command") group.settings.emplace_back(key, value);
    }
    group.runs_a = a.runs.size();
    group.runs_b = b.runs.size();
    group.differing = differing_keys(a.members, b.members, options.allow);
    group.shared = shared_runs(a, b);
    for (const auto& note : {repeated_note("A", a.members), repeated_note("B", b.members), shared_note(group),
                             order_note(a, b), disturbed_note(a, b)})
        if (!note.empty()) group.notes.push_back(note);
    return group;
}

void add_rows(Comparison& comparison, const MatchedGroups& matched, const CompareOptions& options) {
    std::vector<std::vector<OpenRow>> rows;
    std::vector<OpenRow*> all;
    for (const auto& [a, b] : matched.pairs) {
        rows.emplace_back();
        for (const auto& name :
             measurements_of(a.conditions.at("command"), both(a.members, b.members), options.measurements))
            rows.back().push_back(open_row(name, a.members, b.members));
    }
    for (auto& group : rows)
        for (auto& row : group) all.push_back(&row);
    close_rows(all, options.smallest);
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (auto& open : rows[i]) comparison.groups[i].rows.push_back(std::move(open.row));
}

void need_rows(const Comparison& comparison) {
    const bool none =
        std::ranges::all_of(comparison.groups, [](const CompareGroup& group) { return group.rows.empty(); });
    if (none)
        throw base::Error("the runs of A and B hold no measurement that could be compared; measure again",
                          base::ExitCode::invalid_measurement);
}

void name_groups(Comparison& comparison, const MatchedGroups& matched) {
    std::vector<LikeRuns> all;
    for (const auto& pair : matched.pairs) all.push_back(pair.first);
    all.insert(all.end(), matched.only_a.begin(), matched.only_a.end());
    all.insert(all.end(), matched.only_b.begin(), matched.only_b.end());
    const Names titles = titles_of(all);
    for (std::size_t i = 0; i < titles.size(); ++i) {
        if (i < comparison.groups.size())
            comparison.groups[i].title = titles[i];
        else if (i < comparison.groups.size() + matched.only_a.size())
            comparison.only_a.push_back(titles[i]);
        else
            comparison.only_b.push_back(titles[i]);
    }
}

}  // namespace

std::string better_name(vocabulary::Better better) {
    static constexpr std::array kNames{"lower", "higher", "-"};
    return kNames[static_cast<std::size_t>(better)];
}

std::string outcome_name(Outcome outcome) {
    static constexpr std::array kNames{"better", "worse", "same", "changed", "too noisy", "too few runs"};
    return kNames[static_cast<std::size_t>(outcome)];
}

std::size_t Comparison::count(Outcome outcome) const {
    std::size_t rows = 0;
    for (const auto& group : groups)
        rows += static_cast<std::size_t>(
            std::ranges::count_if(group.rows, [&](const CompareRow& row) { return row.outcome == outcome; }));
    return rows;
}

bool Comparison::same_runs() const {
    return only_a.empty() && only_b.empty() && std::ranges::all_of(groups, are_same);
}

std::size_t Comparison::inconclusive() const {
    return count(Outcome::too_noisy) + count(Outcome::too_few_runs) + only_a.size() + only_b.size();
}

std::string Comparison::overall() const {
    if (count(Outcome::worse) > 0) return "worse";
    if (inconclusive() > 0) return "inconclusive";
    if (count(Outcome::better) > 0) return "better";
    return count(Outcome::changed) > 0 ? "changed" : "same";
}

Comparison compare(const Side& a, const Side& b, const CompareOptions& options) {
    Comparison comparison;
    comparison.smallest = options.smallest;
    comparison.a.name = a.name;
    comparison.b.name = b.name;
    const Runs runs_a = usable_runs(a, comparison.a, options.with_unverified);
    const Runs runs_b = usable_runs(b, comparison.b, options.with_unverified);
    need_runs("A", comparison.a);
    need_runs("B", comparison.b);
    const MatchedGroups matched = match_groups(runs_a, runs_b, options.allow);
    Runs compared;
    for (const auto& pair : matched.pairs) {
        comparison.groups.push_back(group_of(pair.first, pair.second, options));
        compared = both(compared, both(pair.first.members, pair.second.members));
    }
    check_asked(options.measurements, compared);
    add_rows(comparison, matched, options);
    need_rows(comparison);
    name_groups(comparison, matched);
    return comparison;
}

int exit_code_of(const Comparison& comparison, const Gate& gate) {
    if (gate.fail_on_regression && comparison.count(Outcome::worse) > 0)
        return static_cast<int>(base::ExitCode::below_threshold);
    if (gate.fail_on_inconclusive && comparison.inconclusive() > 0)
        return static_cast<int>(base::ExitCode::invalid_measurement);
    return 0;
}

}  // namespace ranklab::report::compare
