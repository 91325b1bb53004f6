// Compares two sets of runs, A and B, in rows with verdicts (docs/compare.md). The unit is the run:
// one value per process and measurement, since the steps of one run are not independent samples.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "report/model/conditions.hpp"
#include "results/run.hpp"
#include "stats/difference.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::compare {

struct CompareOptions {
    /// Smallest relative change of interest: 0.03 = 3 %.
    double min_effect = 0.03;
    /// The measurements; empty: the command's headline ones; {"all"}: all.
    std::vector<std::string> measurements = {};
    std::vector<std::string> ignore = {};  ///< what may differ: KEY, or KEY* for all that begin so
    bool with_unverified = false;          ///< also count runs of which nothing was verified
};

struct Side {
    std::string name;  ///< as asked for: "old.h5", "label:base"
    std::vector<results::Run> runs;
};

/// Which runs are A, and which are B: two results files, or two labels or revisions of one file.
struct CompareQuery {
    std::string a, b;  ///< FILE, label:TEXT, rev:HEX or id:RUN
    /// The file in which labels, revisions and ids are looked up.
    std::filesystem::path file = "results/ranklab.h5";
    /// Conditions as in Selection, on both sides.
    std::vector<std::string> where;
};

/// Reads the runs of both sides, without their samples. OptionError where a side matches nothing;
/// the errors of results::ResultFile for a file that is none.
std::pair<Side, Side> read_sides(const CompareQuery& asked);

using Outcome = stats::Verdict;
std::string outcome_name(Outcome outcome);  ///< "better" ... "too noisy", "too few runs"

struct CompareRow {
    std::string measurement, unit;
    vocabulary::Better better = vocabulary::Better::neither;
    double median_a = stats::kNone, median_b = stats::kNone;  ///< of the runs' values
    stats::Difference difference;
    double corrected_p = stats::kNone;  ///< Holm's, over all rows that have enough runs
    Outcome outcome = Outcome::too_few_runs;
    /// The runs per side that would find the smallest change of interest; 0: not known, or the row
    /// has its verdict.
    std::size_t runs_needed = 0;
    std::vector<double> a = {}, b = {};  ///< the values, one a process

    bool is_open() const {
        return outcome == Outcome::too_noisy || outcome == Outcome::too_few_runs;
    }
};

/// A setting or fact of which the two sides do not have the same values.
struct DifferingKey {
    std::string key;
    std::vector<std::string> a, b;  ///< the values that occur
    /// The difference had to be allowed; otherwise it is a fact that is only noted.
    bool allowed = false;
};

/// The runs of one configuration.
struct CompareGroup {
    std::string command;
    model::Conditions settings;  ///< that all of them share
    std::string title;           ///< what distinguishes it
    std::size_t runs_a = 0, runs_b = 0;
    std::size_t shared = 0;  ///< runs that are on both sides
    std::vector<DifferingKey> differing;
    std::vector<std::string> notes;
    std::vector<CompareRow> rows;

    bool same_runs() const { return shared == runs_a && runs_a == runs_b; }
};

struct SideSummary {
    std::string name;
    /// The runs that are compared, or would be if the other side had their counterpart.
    std::size_t runs = 0;
    std::string first_utc, last_utc;
    std::vector<std::string> labels, versions, revisions;
    std::vector<std::pair<std::string, std::size_t>> left_out;  ///< reason, runs
};

struct Comparison {
    double min_effect = 0.03;
    SideSummary a, b;
    std::vector<CompareGroup> groups;
    std::vector<std::string> only_a, only_b;  ///< configurations without a counterpart

    std::size_t count(Outcome outcome) const;
    /// A and B are the same ones, so that they say nothing of a difference.
    bool same_runs() const;
    /// Rows without a verdict, and configurations that one side lacks.
    std::size_t inconclusive() const;
    /// The outcome is worse where a row is; otherwise inconclusive, better, changed or same.
    std::string overall() const;
};

/// OptionError where runs of A and B are of one command and differ in settings or surroundings that
/// were not allowed to, have no command in common, or lack a requested measurement. Error with the
/// code invalid_measurement where no run of a side can be used.
Comparison compare(const Side& a, const Side& b, const CompareOptions& options);

/// The verdicts that make a gate fail.
struct Gate {
    bool fail_on_regression = false;
    bool fail_on_inconclusive = false;
};
/// Returns below_threshold where a row is worse, invalid_measurement where one has no verdict, if
/// the gate asks for it; 0 otherwise.
int exit_code_of(const Comparison& comparison, const Gate& gate);

/// The verdict, a table per configuration, and further notes for the reader.
std::string comparison_text(const Comparison& comparison, const Gate& gate);
/// One object by docs/schema/compare.schema.json, ending in a newline; NaN and infinities are null.
std::string comparison_json(const Comparison& comparison, const Gate& gate);
/// For a comment on a change.
std::string comparison_markdown(const Comparison& comparison, const Gate& gate);
/// "" without a gate; otherwise whether it passes, and why.
std::string gate_line(const Comparison& comparison, const Gate& gate);

}  // namespace ranklab::report::compare
