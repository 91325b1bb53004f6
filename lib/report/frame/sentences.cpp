#include "report/frame/sentences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ranklab::report {
namespace {

template <class Key>
struct Words {
    Key key;
    const char *name, *text;
};

struct CaveatWords {
    CaveatKind key;
    const char *text, *of_groups;  // of_groups: after "1 group"; for more "has" becomes "have"
};

constexpr std::array kCaveats{
    CaveatWords{CaveatKind::single_run, "single run: no interval between runs",
                "has a single run, without an interval between runs: `ranklab sweep --repeat 5` "
                "repeats it"},
    CaveatWords{CaveatKind::oversubscribed, "oversubscribed: {}",
                "has runs with more compute threads than cores: give fewer --threads or ranks"},
    CaveatWords{CaveatKind::other_load, "load by other processes: {}",
                "was measured while other processes used its hosts: repeat it on idle hosts; "
                "`ranklab doctor` "
                "shows their load"},
    CaveatWords{CaveatKind::load_not_measured, "load by other processes: {}",
                "has runs whose load by other processes was not measured"},
    CaveatWords{CaveatKind::load_differs,
                "no verdict against the baseline: load by other processes differs ({})",
                "ran beside other load than its baseline: repeat both in turn on idle hosts"},
    CaveatWords{CaveatKind::not_verified, "results not verified",
                "has runs whose results are not verified"},
    CaveatWords{CaveatKind::invalid, "INVALID: {}", "has INVALID runs"},
    CaveatWords{CaveatKind::left_out, "invalid runs left out: {}",
                "has invalid runs, which are left out"},
    CaveatWords{CaveatKind::not_converged, "{} did not converge", "has runs that did not converge"},
    CaveatWords{CaveatKind::exit_7, "exit code 7: {}", "has runs of exit code 7"},
    CaveatWords{CaveatKind::cut_short, "cut short: {}", "has runs that were cut short"},
    CaveatWords{CaveatKind::not_summed, "gradients not summed: each rank trained its own model",
                "has runs that did not sum gradients: each rank trained its own model"},
    CaveatWords{CaveatKind::differs, "the runs of this row differ in {}",
                "has runs with different settings"},
    CaveatWords{CaveatKind::other_work, "no speedup: the work differs from the baseline's ({})",
                "has work that differs from the baseline's"},
    CaveatWords{CaveatKind::not_as_baseline, "conditions differ from the baseline's: {}",
                "has conditions that differ from the baseline's"},
    CaveatWords{CaveatKind::no_efficiency, "no efficiency: {}", "has no efficiency"},
    CaveatWords{CaveatKind::too_efficient, "efficiency above {}: slow baseline or different work",
                "has an efficiency far above 1"},
    CaveatWords{CaveatKind::said, "{}", "has a caveat"},
};

constexpr std::array kVerdicts{
    Words{Verdict::fastest, "fastest",
          "best: {subject}, {value}, {ratio} times as fast as {against}{interval}"},
    Words{Verdict::fastest_of_others, "baseline_is_fastest",
          "best: {subject} (the baseline), {value}, {ratio} times as fast as {against}{interval}"},
    Words{Verdict::undecided, "undecided",
          "undecided: {subject}, {value}, was the fastest; {alike} may be as fast"},
    Words{Verdict::single_runs, "single_runs",
          "undecided: {subject}, {value}, was the fastest, {ratio} times as fast as {against}; "
          "a comparison takes at least 5 runs per row"},
    Words{
        Verdict::other_load, "other_load",
        "undecided: {subject}, {value}, was the fastest; other processes used the hosts of {alike} "
        "differently"},
    Words{Verdict::larger_model, "larger_model",
          "{subject} takes {ratio} times as long as {against}{interval} for {value} times the "
          "parameters"},
    Words{Verdict::scales, "scales", "{subject} are {ratio} times as fast as {against}{interval}"},
    Words{Verdict::scales_undecided, "scales_undecided",
          "undecided: {subject} are {ratio} times as fast as {against}{interval}"},
    Words{Verdict::weak_scaling, "weak_scaling",
          "weak scaling: {subject} keeps {ratio} of the rate per {unit} of {against}{interval}"},
    Words{Verdict::weak_scaling_undecided, "weak_scaling_undecided",
          "weak scaling undecided: {subject} keeps {ratio} of the rate per {unit} of {against}; "
          "{value}"},
    Words{Verdict::no_efficiency, "no_efficiency",
          "weak scaling: {subject} has no efficiency: {value}"},
    Words{Verdict::best_tier, "best_tier",
          "fastest: {subject}, {value}; may be as fast, since the 95 % intervals overlap: {alike}; "
          "slower: the other verified strategies"},
    Words{Verdict::all_alike, "all_alike",
          "undecided: {subject}, {value}, was the fastest; may be as fast, since the 95 % "
          "intervals overlap: {alike}"},
    Words{Verdict::fastest_alone, "fastest_alone",
          "fastest: {subject}, {value}; the next, {against}, takes {ratio} times as long"},
    Words{Verdict::no_intervals, "no_intervals",
          "undecided: {subject}, {value}, was the fastest; an interval takes 6 repetitions"},
    Words{Verdict::nothing_verified, "nothing_verified", "undecided: no strategy is verified"},
    Words{Verdict::one_verified, "one_verified", "undecided: only {subject} is verified"},
    Words{Verdict::faster_but_unverified, "faster_but_unverified",
          "left out: {subject}, {value}, was faster, but is not verified"},
    Words{Verdict::reaches, "reaches",
          "The largest scale above the threshold is {subject}: {unit} {ratio}{interval}; {against} "
          "asks for {value}."},
    Words{Verdict::reaches_undecided, "reaches_undecided",
          "The largest scale above the threshold is {subject}: {unit} {ratio}{interval}; {against} "
          "asks for {value}, which the interval includes: more repeats decide."},
    Words{Verdict::reaches_without_interval, "reaches_without_interval",
          "The largest scale above the threshold is {subject}: {unit} {ratio}; {against} asks for "
          "{value}. An interval takes at least 3 runs per point."},
    Words{
        Verdict::reaches_nothing, "reaches_nothing",
        "The first scale above {subject} whose {unit} is known is below the {value} that {against} "
        "asks for."},
    Words{
        Verdict::reaches_other_load, "reaches_other_load",
        "Undecided, since load by other processes differs from the base's: up to {subject}, {unit} "
        "{ratio}{interval}; {against} asks for {value}."},
    Words{Verdict::reaches_unknown, "reaches_unknown",
          "Undecided: no scale above {subject} has a known {unit}; {against} asks for {value}."},
    Words{Verdict::no_threshold, "no_threshold",
          "The largest scale measured is {subject}: {unit} {ratio}{interval}, compared with no "
          "threshold."},
};

using Why = Refusal::Why;
constexpr std::array kRefusals{
    Words{Why::none, "none", "{}"},
    Words{Why::too_few_points, "too_few_points", "needs at least 4 rank counts; measure: {}"},
    Words{Why::repeats_contradict, "repeats_contradict",
          "repeats at one rank count differ too much; on a quiet machine measure: {}"},
    Words{Why::warm_up_inside, "warm_up_inside",
          "the first run at each rank count is slower than the rest, as with too little warm-up; "
          "give a larger --warmup, and measure: {}"},
    Words{Why::misfit, "misfit", "no curve fits the points; measure again: {}"},
    Words{Why::jump, "jump", "the time jumps between two points, as at a second node; measure: {}"},
    Words{Why::held_out_missed, "held_out_missed",
          "the other points do not forecast the time of the largest one; measure: {}"},
    Words{Why::one_node, "one_node",
          "the forecast spans several nodes, and fewer than 2 points do; measure: {}"},
    Words{Why::beyond_reach, "beyond_reach",
          "more than 4 times the ranks of the largest point; give --force, or measure: {}"},
    Words{Why::no_layers, "no_layers",
          "no run of one rank has the time of each layer; measure: {}"},
    Words{Why::batch_not_measured, "batch_not_measured",
          "no run of one rank has this batch size; measure: {}"},
    Words{Why::few_samples, "few_samples",
          "fewer measured steps than ranks, so the slowest rank's time is not known; measure: {}"},
    Words{
        Why::level_not_crossed, "level_not_crossed",
        "no allreduce of this size was measured on ranks placed as in this forecast; measure: {}"},
    Words{Why::too_far, "too_far",
          "more than 64 times the ranks of the largest run; give --force, or measure: {}"},
    Words{Why::misses_its_runs, "misses_its_runs",
          "the simulation is off by a factor of 2 or more: {}"},
};

// The table has a row for each key.
const auto& words_of(const auto& table, auto key) {
    return *std::ranges::find_if(table, [&](const auto& row) { return row.key == key; });
}

std::string interval_of(const stats::Interval& ci) {
    return std::isfinite(ci.low) ? fmt::format(" (95 % interval {:.2f} .. {:.2f})", ci.low, ci.high)
                                 : "";
}

}  // namespace

std::string sentence(const Caveat& caveat) {
    return fmt::format(fmt::runtime(words_of(kCaveats, caveat.kind).text), caveat.what);
}

std::string sentence(const Finding& finding) {
    return fmt::format(fmt::runtime(words_of(kVerdicts, finding.verdict).text),
                       fmt::arg("subject", finding.subject), fmt::arg("against", finding.against),
                       fmt::arg("value", finding.value),
                       fmt::arg("ratio", fmt::format("{:.2f}", finding.ratio.ratio)),
                       fmt::arg("interval", interval_of(finding.ratio.ci)),
                       fmt::arg("alike", some_of(finding.alike, 3, "; ")),
                       fmt::arg("unit", finding.unit));
}

std::string name_of(Verdict verdict) {
    return words_of(kVerdicts, verdict).name;
}

std::string sentence(const Refusal& refusal) {
    return fmt::format(fmt::runtime(words_of(kRefusals, refusal.why).text), refusal.command);
}

std::string name_of(Refusal::Why why) {
    return words_of(kRefusals, why).name;
}

std::string of_groups(CaveatKind kind, std::size_t groups) {
    const std::string words = words_of(kCaveats, kind).of_groups;
    return groups == 1                ? words
           : words.starts_with("was") ? "were" + words.substr(3)
                                      : "have" + words.substr(3);
}

std::string Footnotes::references(const std::vector<Caveat>& caveats) {
    std::vector<std::string> numbers;
    for (const auto& caveat : caveats) {
        auto place = std::ranges::find(met_, caveat);
        if (place == met_.end()) place = met_.insert(met_.end(), caveat);
        numbers.push_back(fmt::to_string(place - met_.begin() + 1));
    }
    return base::join(numbers, " ");
}

std::vector<std::string> Footnotes::lines(const std::vector<std::string>& notes) const {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < met_.size(); ++i)
        lines.push_back(fmt::format("{}: {}", i + 1, sentence(met_[i])));
    lines.insert(lines.end(), notes.begin(), notes.end());
    return lines;
}

}  // namespace ranklab::report
