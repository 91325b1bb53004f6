// Compares two sets of runs, A and B, in rows with verdicts (docs/compare.md). A sample is one
// value per launch, since the steps of one run are not independent.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/model/conditions.hpp"
#include "results/run.hpp"
#include "stats/difference.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::compare {

struct CompareOptions {
    double min_effect = stats::kMinEffect;
    /// Names; empty: the command's headline measurements; {"all"}: every one.
    std::vector<std::string> measurements = {};
    std::vector<std::string> ignore = {};  ///< conditions that may differ: KEY, or a prefix KEY*
    bool with_unverified = false;          ///< count runs without any verified result, too
    bool one_may_differ = false;           ///< one option may differ without --ignore
};

struct Side {
    std::string name;  ///< "old.h5", "label:base in runs.h5"
    std::vector<results::Run> runs;
};
using Runs = std::vector<const results::Run*>;

/// Reads the runs of a side, without their samples. `word`: FILE, or label:TEXT, rev:HEX or id:RUN
/// of runs in `file`; `where`: conditions as in model::Selection. Throws OptionError if no run
/// matches.
Side read_side(const std::string& word, const std::filesystem::path& file,
               const std::vector<std::string>& where);

using Outcome = stats::Verdict;
std::string name_of(Outcome outcome);  ///< "better" ... "too noisy", "too few runs"

struct CompareRow {
    std::string measurement, unit;
    vocabulary::Better better = vocabulary::Better::neither;
    double median_a = stats::kNone, median_b = stats::kNone;
    stats::Difference difference;
    double corrected_p = stats::kNone;  ///< Holm's correction over all rows with enough runs
    Outcome outcome = Outcome::too_few_runs;
    /// If is_open(): runs per side that would detect the smallest change of interest; 0: unknown.
    std::size_t runs_needed = 0;
    std::vector<double> a = {}, b = {};  ///< one value per launch
    bool disturbed = false;              ///< a time or rate, and load by other processes differs

    bool is_open() const {
        return outcome == Outcome::too_noisy || outcome == Outcome::too_few_runs;
    }
};

/// A setting or fact whose values differ between the sides.
struct DifferingKey {
    std::string key;
    std::set<std::string> a, b;  ///< the values that occur
    bool allowed = false;        ///< by --ignore; false: a fact that is only noted
};

/// The runs of one configuration: equal in all decisive conditions that --ignore does not name.
struct CompareGroup {
    model::Conditions conditions = {};  ///< with the command
    Runs a = {}, b = {};                ///< the sides' runs
    std::string title = {};             ///< the settings that distinguish the configuration
    std::size_t shared = 0;             ///< runs that are on both sides
    std::vector<DifferingKey> differing = {};
    std::vector<std::string> notes = {};
    std::vector<CompareRow> rows = {};
    /// If one option explains all differences: the verdict on its values.
    std::vector<std::string> findings = {};

    const std::string& command() const { return conditions.at("command"); }
    bool on_both_sides() const { return !a.empty() && !b.empty(); }
    bool same_runs() const { return shared == a.size() && a.size() == b.size(); }
};

/// Runs of a side that do not count.
struct LeftOut {
    std::string reason = {};  ///< "not verified"
    std::size_t runs = 0;
};

struct SideSummary {
    std::string name;
    std::size_t runs = 0;  ///< runs that count, with or without a counterpart
    std::string first_utc, last_utc;
    std::vector<std::string> labels, versions, revisions;
    std::vector<LeftOut> left_out;
};

struct Comparison {
    double min_effect = stats::kMinEffect;
    SideSummary a = {}, b = {};
    std::vector<CompareGroup> groups = {};
    std::vector<std::string> only_a = {}, only_b = {};  ///< configurations without a counterpart

    std::size_t count(Outcome outcome) const;
    /// True if A and B are the same runs, so that no difference can be tested.
    bool same_runs() const;
    /// The number of rows without a verdict, and of configurations without a counterpart.
    std::size_t inconclusive() const;
    /// The first of these that occurs: worse, inconclusive (nullopt), better, changed, same.
    std::optional<Outcome> overall() const;
};

/// Throws OptionError if A and B both have runs of a command that lack a counterpart on the other
/// side, because of settings or surroundings that may not differ; if A and B have no command in
/// common; or if no run has a requested measurement. Throws Error with the code invalid_measurement
/// if no run of a side counts. The result points into the sides' runs.
Comparison compare(const Side& a, const Side& b, const CompareOptions& options);

/// Which verdicts fail a gate.
struct Gate {
    bool fail_on_regression = false;
    bool strict = false;  ///< fails if inconclusive() > 0
};
/// Returns below_threshold if a row is worse, else invalid_measurement if inconclusive() > 0, each
/// only if the gate fails on it; otherwise 0.
int exit_code_of(const Comparison& comparison, const Gate& gate);

/// One table per configuration, notes, the verdict and the gate's line.
std::string comparison_text(const Comparison& comparison, const Gate& gate);
/// One object by docs/schema/compare.schema.json.
std::string comparison_json(const Comparison& comparison, const Gate& gate);
/// For a comment on a pull request.
std::string comparison_markdown(const Comparison& comparison, const Gate& gate);
/// Whether the gate passes, and why; "" without a gate.
std::string gate_line(const Comparison& comparison, const Gate& gate);

// For this folder only: pairs the runs of A and B by configuration.

Runs both(const Runs& a, const Runs& b);

/// The identifier that the runs of one launch share; the run's id if none was stored.
std::string process_of(const results::Run& run);

/// The load by other processes on the runs' hosts.
model::OtherLoad load_of(const Runs& runs);

/// Returns groups with title and runs, but without rows: in A's order, then those that only B has.
/// Throws OptionError if A and B have no command in common, or if both have runs of a command
/// without a counterpart on the other side; the message then has the conditions that differ.
std::vector<CompareGroup> groups_of(const Runs& a, const Runs& b,
                                    const std::vector<std::string>& ignore);
/// If A and B lack counterparts only because of one option: this option and the conditions that
/// follow from it; otherwise {}.
std::vector<std::string> one_difference(const Runs& a, const Runs& b,
                                        const std::vector<std::string>& ignore);
/// The option among the keys from which all others follow; "": none.
std::string explaining(const std::vector<std::string>& keys);

/// Ignored conditions and noted facts whose values differ between the sides.
std::vector<DifferingKey> differing_keys(const CompareGroup& group,
                                         const std::vector<std::string>& ignore);

/// Warns if runs share a launch, are on both sides, all precede those of the other side, or if load
/// by other processes differs.
std::vector<std::string> notes_of(const CompareGroup& group);

}  // namespace ranklab::report::compare
