// The sentences of reports: verdicts and caveats are data, and a table has one row for the sentence
// of each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "forecast/refusal.hpp"
#include "stats/interval.hpp"

namespace ranklab::report {

/// Why a row is to be read with care.
enum class CaveatKind {
    single_run,
    oversubscribed,
    other_load,
    not_verified,
    invalid,
    left_out,
    not_converged,
    exit_7,
    cut_short,
    not_summed,
    differs,
    other_work,
    not_as_baseline,
    no_efficiency,
    too_efficient,
    said  ///< in the run's own words
};
struct Caveat {
    CaveatKind kind = CaveatKind::said;
    std::string what = {};  ///< what the sentence has a place for

    bool operator==(const Caveat&) const = default;
};
/// One short sentence.
std::string sentence(const Caveat& caveat);

enum class Verdict {
    fastest,
    fastest_of_others,  ///< the baseline is
    undecided,
    single_runs,
    weak_scaling,
    weak_scaling_undecided,
    no_efficiency,
    best_tier,
    all_alike,
    fastest_alone,
    no_intervals,
    nothing_verified,
    one_verified,
    faster_but_unverified,
    // proposals: how far a curve reaches a centre's threshold
    reaches,
    reaches_undecided,  ///< its interval does not
    reaches_without_interval,
    reaches_nothing,
    no_threshold
};
/// A verdict about some rows.
struct Finding {
    Verdict verdict = Verdict::undecided;
    std::string subject = {};             ///< the row's name
    std::size_t row = 0;                  ///< and its place
    std::string against = {};             ///< the row that it is compared with
    std::string value = {};               ///< the subject's, for people: "33.2 ms"
    stats::RatioEstimate ratio = {};      ///< of the two, above 1 where the subject is better
    std::vector<std::string> alike = {};  ///< rows that may be as good
    std::string unit = {};  ///< "core" where an efficiency is per core; the ratio's name
};
std::string sentence(const Finding& finding);

/// "fastest", for machine formats.
std::string name_of(Verdict verdict);
std::string name_of(CaveatKind mark);

/// Why there is no forecast, and the run that would mend it, as a command or in words.
struct Refusal {
    using Why = forecast::Refusal;
    Why why = Why::none;
    std::string command = {};
};
std::string sentence(const Refusal& refusal);
std::string name_of(Refusal::Why why);

/// The numbers by which rows refer to their caveats, and the sentences below the table, each once.
class Footnotes {
  public:
    /// "1 2"; "" without caveats.
    std::string references(const std::vector<Caveat>& caveats);
    /// "1: ..." a line each, in the order met, and then the table's notes.
    std::vector<std::string> lines(const std::vector<std::string>& notes) const;

  private:
    std::vector<Caveat> met_;
};

}  // namespace ranklab::report
