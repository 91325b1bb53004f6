// Verdicts and caveats as data, and the sentence of each.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "forecast/curve.hpp"
#include "stats/interval.hpp"

namespace ranklab::report {

/// The first `most` texts and the number of the others: "a, b and 3 more". `longest` > 0 shortens
/// each text (base::printable).
template <class Texts>
std::string some_of(const Texts& all, std::size_t most, std::string_view between = ", ",
                    std::size_t longest = 0) {
    std::vector<std::string> shown;
    for (const auto& one : all)
        if (shown.size() < most)
            shown.push_back(longest == 0 ? one : base::printable(one, longest));
    const std::size_t more = all.size() - shown.size();
    return base::join(shown, between) + (more == 0 ? "" : " and " + std::to_string(more) + " more");
}

/// Reasons to read a row with care, the most serious first.
enum class CaveatKind {
    invalid,
    left_out,
    not_summed,
    not_verified,
    other_load,
    load_differs,
    load_not_measured,
    oversubscribed,
    cut_short,
    exit_7,
    not_converged,
    single_run,
    differs,
    other_work,
    not_as_baseline,
    no_efficiency,
    too_efficient,
    said  ///< a sentence that the run stored
};
struct Caveat {
    CaveatKind kind = CaveatKind::said;
    std::string what = {};  ///< for the {} in the sentence

    bool operator==(const Caveat&) const = default;
};
std::string sentence(const Caveat& caveat);

enum class Verdict {
    fastest,
    fastest_of_others,  ///< the baseline is the fastest
    undecided,
    single_runs,
    other_load,  ///< load by other processes differs between the compared rows
    larger_model,
    pays,  ///< `value`: the parts of a step that take longer in `against`
    pays_undecided,
    sums_cost,  ///< `against` sums no gradients
    sums_cost_undecided,
    scales,            ///< a point of a curve against the curve's baseline
    slows,             ///< the interval of its speedup is below 1
    scales_undecided,  ///< no interval, or it includes 1; or other load differs
    weak_scaling,
    weak_scaling_undecided,
    no_efficiency,
    best_tier,
    all_alike,
    fastest_alone,
    no_intervals,
    fits,  ///< of a sweep with --fits, if at most one row fits
    nothing_verified,
    one_verified,
    faster_but_unverified,
    // Of proposals: the largest scale that meets a centre's threshold.
    reaches,
    reaches_undecided,  ///< the interval includes the threshold
    reaches_without_interval,
    reaches_nothing,
    reaches_unknown,     ///< the figure is known for no scale above the base
    reaches_other_load,  ///< load by other processes differs from the base's
    no_threshold,
    // Of a campaign's question: `value` is the ratio that was asked for.
    worth,
    not_worth,
    worth_undecided  ///< no interval, or it includes `value`
};
/// A verdict on rows of a table, with the numbers of its sentence.
struct Finding {
    Verdict verdict = Verdict::undecided;
    std::string subject = {};         ///< name of the row
    std::size_t row = 0;              ///< index of the row
    std::string against = {};         ///< name of the row that the subject is compared with
    std::string value = {};           ///< of the subject, for people: "33.2 ms"
    stats::RatioEstimate ratio = {};  ///< how many times as good as `against`; or as `unit` says
    std::vector<std::string> alike = {};  ///< names of rows that may be as good
    std::string unit = {};  ///< what efficiency is relative to: "core"; or the ratio's name
};
std::string sentence(const Finding& finding);
template <class One>
std::vector<std::string> sentences_of(const std::vector<One>& all) {
    std::vector<std::string> texts;
    for (const One& one : all) texts.push_back(sentence(one));
    return texts;
}

/// A row of templates/sentences.txt: kind, name, sentence and, depending on the kind, more words.
/// The rows of a kind are in the order of its enum, to which `key` belongs.
const std::vector<std::string>& sentence_row(const std::string& kind, std::size_t key);

/// The name in machine formats: "fastest".
std::string name_of(Verdict verdict);
/// The words after "1 group" on the page: "has runs of exit code 7"; "have" for more groups.
std::string of_groups(CaveatKind kind, std::size_t groups);

/// Why there is no forecast, and the runs that would allow one, as a command or in words.
struct Refusal {
    using Why = forecast::Refusal;
    Why why = Why::none;
    std::string command = {};
};
std::string sentence(const Refusal& refusal);
std::string name_of(Refusal::Why why);

/// Numbers the caveats of a table, and lists their sentences below the table. Equal caveats share a
/// number.
class Footnotes {
  public:
    /// The numbers of a row's caveats: "1 2".
    std::string references(const std::vector<Caveat>& caveats);
    /// A line "1: ..." per caveat, in the order of their numbers, then the table's notes.
    std::vector<std::string> lines(const std::vector<std::string>& notes) const;

  private:
    std::vector<Caveat> met_;
};

}  // namespace ranklab::report
