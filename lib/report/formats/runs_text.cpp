#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/one_line.hpp"
#include "base/wrap.hpp"
#include "report/formats/formats.hpp"
#include "report/model/text_table.hpp"

namespace ranklab::report::formats {
namespace {

constexpr std::size_t kNarrowest = 12;  // a run and its label stand in one line

// Of what a run says of itself: its own report shows it whole.
constexpr std::size_t kLongestLabel = 24;
constexpr std::size_t kLongestWork = 60;

std::string cut(const std::string& text, std::size_t columns) {
    return base::shortened(base::one_line(text), columns);
}

// With what makes its numbers those of a shorter run.
std::string what(const model::ListedRun& run) {
    const std::string work =
        model::kept_together(cut(run.what.empty() ? run.command : run.what, kLongestWork), " x ");
    return run.cut_short.empty() ? work : fmt::format("{}; cut short: {}", work, run.cut_short);
}

// What there is in a list too long to be shown: the most frequent commands and labels.
std::string counts(const std::vector<model::ListedRun>& runs, std::size_t left_out,
                   const model::HowTo& how_to) {
    constexpr std::size_t kMostCounts = 12;
    std::map<std::pair<std::string, std::string>, std::size_t> counted;
    std::size_t invalid = 0;
    for (const auto& run : runs) {
        ++counted[{run.command, run.label}];
        if (!run.valid) ++invalid;
    }
    std::vector<std::pair<std::size_t, std::pair<std::string, std::string>>> sorted;
    for (const auto& [what, n] : counted) sorted.emplace_back(n, what);
    std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.first > b.first; });
    model::TextTable table({"of all", "<command", "<label"});
    for (std::size_t i = 0; i < std::min(sorted.size(), kMostCounts); ++i)
        table.add({fmt::format("{}", sorted[i].first), cut(sorted[i].second.first, kLongestLabel),
                   cut(sorted[i].second.second, kLongestLabel)});
    const std::size_t more = sorted.size() - std::min(sorted.size(), kMostCounts);
    return table.text() + (more > 0 ? fmt::format("  and {} more labels\n", more) : "") + '\n' +
           base::wrapped("", fmt::format("{} older run(s) are not listed, and {} of all are invalid{}",
                                         left_out, invalid, model::and_how(how_to.list_older)));
}

}  // namespace

std::string runs_text(const std::vector<model::ListedRun>& runs, std::size_t shown, const std::string& chosen,
                      const model::HowTo& how_to) {
    const std::size_t left_out = runs.size() > shown ? runs.size() - shown : 0;
    model::TextTable table({"run (UTC time)", "<what on ranks x threads", "rate", "<label"});
    for (std::size_t i = left_out; i < runs.size(); ++i)
        table.add({runs[i].id, what(runs[i]),
                   runs[i].valid ? runs[i].rate : fmt::format("INVALID ({})", runs[i].exit_code),
                   cut(runs[i].label, kLongestLabel)});
    return table.text(base::kScreenColumns, kNarrowest) + '\n' +
           (left_out > 0 ? counts(runs, left_out, how_to) : "") +
           fmt::format("{} run(s){}.", runs.size(), chosen.empty() ? "" : " of " + base::one_line(chosen)) +
           (how_to.one_run.empty()
                ? ""
                : fmt::format(" To see one:\n  {} {}", how_to.one_run, base::one_line(runs.back().id))) +
           '\n';
}

}  // namespace ranklab::report::formats
