#include "report/frame/sentences.hpp"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"

namespace ranklab::report {
namespace {

struct MarkRow {
    Mark mark;
    const char *name, *text;
};

constexpr std::array kMarks{
    MarkRow{Mark::single_run, "single_run", "single run: no interval between runs"},
    MarkRow{Mark::oversubscribed, "oversubscribed", "oversubscribed: {}"},
    MarkRow{Mark::other_load, "other_load", "other processes were busy on its hosts in {}"},
    MarkRow{Mark::not_verified, "not_verified", "results not verified"},
    MarkRow{Mark::invalid, "invalid", "INVALID: {}"},
    MarkRow{Mark::left_out, "left_out", "{} invalid left out"},
    MarkRow{Mark::not_converged, "not_converged", "{} not converged"},
    MarkRow{Mark::exit_7, "exit_7", "{} with exit code 7"},
    MarkRow{Mark::cut_short, "cut_short", "cut short: {}"},
    MarkRow{Mark::not_summed, "not_summed", "gradients were not summed: not the same training"},
    MarkRow{Mark::differs, "differs", "its runs differ in {}"},
    MarkRow{Mark::other_work, "other_work", "no speedup: other work than the baseline ({})"},
    MarkRow{Mark::not_as_baseline, "not_as_baseline", "not measured as the baseline: {}"},
    MarkRow{Mark::no_efficiency, "no_efficiency", "no efficiency: {}"},
    MarkRow{Mark::too_efficient, "too_efficient", "efficiency above {}: a slow baseline, or other work"},
    MarkRow{Mark::said, "said", "{}"},
};

struct VerdictRow {
    Verdict verdict;
    const char *name, *text;
};

constexpr std::array kVerdicts{
    VerdictRow{Verdict::fastest, "fastest",
               "best: {subject}, {value}, {ratio} times as fast as {against}{interval}"},
    VerdictRow{Verdict::fastest_of_others, "baseline_is_fastest",
               "best: {subject} (the baseline), {value}, {ratio} times as fast as {against}{interval}"},
    VerdictRow{Verdict::undecided, "undecided",
               "undecided: {subject}, {value}, was the fastest; {alike} may be as fast"},
    VerdictRow{
        Verdict::single_runs, "single_runs",
        "undecided: {subject}, {value}, was the fastest, {ratio} times as fast as {against}; fewer than "
        "3 runs a row do not tell which is faster"},
    VerdictRow{Verdict::weak_scaling, "weak_scaling",
               "weak scaling: {subject} keeps {ratio} of the rate per {unit} of {against}{interval}"},
    VerdictRow{
        Verdict::weak_scaling_undecided, "weak_scaling_undecided",
        "weak scaling: {subject} keeps {ratio} of the rate per {unit} of {against}; too few runs for an "
        "interval"},
    VerdictRow{Verdict::no_efficiency, "no_efficiency", "weak scaling: {subject} has no efficiency: {value}"},
    VerdictRow{
        Verdict::best_tier, "best_tier",
        "fastest: {subject}, {value}; may be as fast, since their 95 % intervals meet: {alike}; slower: the "
        "other verified ones"},
    VerdictRow{
        Verdict::all_alike, "all_alike",
        "undecided: {subject}, {value}, was the fastest; may be as fast, since their 95 % intervals meet: "
        "{alike}"},
    VerdictRow{Verdict::one_tier, "fastest_alone",
               "fastest: {subject}, {value}; the next, {against}, takes {ratio} times as long"},
    VerdictRow{Verdict::no_intervals, "no_intervals",
               "undecided: {subject}, {value}, was the fastest; an interval takes 6 repetitions"},
    VerdictRow{Verdict::nothing_verified, "nothing_verified", "undecided: no strategy is verified"},
    VerdictRow{Verdict::one_verified, "one_verified", "undecided: {subject} alone is verified"},
    VerdictRow{Verdict::faster_but_unverified, "faster_but_unverified",
               "left out: {subject}, {value}, was faster, but is not verified"},
};

const MarkRow& row_of(Mark mark) {
    return *std::ranges::find(kMarks, mark, &MarkRow::mark);
}

const VerdictRow& row_of(Verdict verdict) {
    return *std::ranges::find(kVerdicts, verdict, &VerdictRow::verdict);
}

std::string some_of(const std::vector<std::string>& names) {
    constexpr std::size_t kMost = 3;
    std::string text = base::join(
        {names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, names.size()))}, "; ");
    return names.size() > kMost ? text + fmt::format(" and {} more", names.size() - kMost) : text;
}

std::string interval_of(const stats::Interval& ci) {
    return std::isfinite(ci.low) ? fmt::format(" (95 % interval {:.2f} .. {:.2f})", ci.low, ci.high) : "";
}

}  // namespace

std::string sentence(const Doubt& doubt) {
    return fmt::format(fmt::runtime(row_of(doubt.mark).text), doubt.what);
}

std::string sentence(const Finding& finding) {
    return fmt::format(fmt::runtime(row_of(finding.verdict).text), fmt::arg("subject", finding.subject),
                       fmt::arg("against", finding.against), fmt::arg("value", finding.value),
                       fmt::arg("ratio", fmt::format("{:.2f}", finding.ratio.ratio)),
                       fmt::arg("interval", interval_of(finding.ratio.ci)),
                       fmt::arg("alike", some_of(finding.alike)), fmt::arg("unit", finding.unit));
}

std::string name_of(Verdict verdict) {
    return row_of(verdict).name;
}

std::string name_of(Mark mark) {
    return row_of(mark).name;
}

std::string Footnotes::references(const std::vector<Doubt>& doubts) {
    std::vector<std::string> numbers;
    for (const auto& doubt : doubts) {
        auto place = std::ranges::find(met_, doubt);
        if (place == met_.end()) place = met_.insert(met_.end(), doubt);
        numbers.push_back(fmt::to_string(place - met_.begin() + 1));
    }
    return base::join(numbers, " ");
}

std::vector<std::string> Footnotes::lines() const {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < met_.size(); ++i)
        lines.push_back(fmt::format("{}: {}", i + 1, sentence(met_[i])));
    return lines;
}

}  // namespace ranklab::report
