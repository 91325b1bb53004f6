// What stands beside the rows of a pair.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/compare/match.hpp"

namespace ranklab::report::compare {
namespace {

using results::Run;

std::string repeated_note(const char* side, const Runs& runs) {
    std::set<std::string> processes;
    for (const Run* run : runs) processes.insert(process_of(*run));
    if (processes.size() == runs.size()) return "";
    return fmt::format(
        "the {} runs of {} were made by {}: each counts once, with its median; start a process for each "
        "run",
        runs.size(), side,
        processes.size() == 1 ? "1 process" : fmt::format("{} processes", processes.size()));
}

std::string shared_note(const CompareGroup& group) {
    if (group.same_runs()) return "A and B are the same runs: they say nothing of a difference";
    return group.shared == 0
               ? ""
               : fmt::format("{} of the runs are on both sides: they say nothing of a difference",
                             group.shared);
}

std::string order_note(const Runs& a, const Runs& b) {
    const auto last = [](const Runs& runs) {
        return std::ranges::max(runs, {}, &Run::started_utc)->started_utc;
    };
    const auto first = [](const Runs& runs) {
        return std::ranges::min(runs, {}, &Run::started_utc)->started_utc;
    };
    const bool a_first = last(a) < first(b);
    if (!a_first && !(last(b) < first(a))) return "";
    return fmt::format(
        "all runs of {} were before all of {}: a drift of the machine looks like a change; measure them in "
        "turn",
        a_first ? "A" : "B", a_first ? "B" : "A");
}

std::string load_note(const Runs& a, const Runs& b) {
    const auto disturbed = [](const Runs& runs) {
        return std::ranges::count_if(runs,
                                     [](const Run* run) { return run->fact("place", "quiet") == "no"; });
    };
    const auto of_a = disturbed(a), of_b = disturbed(b);
    if (of_a + of_b == 0) return "";
    return fmt::format("other processes were busy on the hosts of {} of {} runs of A and {} of {} of B", of_a,
                       a.size(), of_b, b.size());
}

}  // namespace

std::vector<std::string> notes_of(const CompareGroup& group, const Runs& a, const Runs& b) {
    std::vector<std::string> notes{repeated_note("A", a), repeated_note("B", b), shared_note(group),
                                   order_note(a, b), load_note(a, b)};
    std::erase(notes, "");
    return notes;
}

}  // namespace ranklab::report::compare
