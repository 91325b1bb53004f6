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
    std::vector<std::string> ignore = {};  ///< keys that may differ: KEY, or KEY* as a prefix
    bool with_unverified = false;          ///< also count runs without a passed check
};

struct Side {
    std::string name;  ///< the user's word for it: "old.h5", "label:base"
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

/// Reads the runs of both sides, without their samples. Throws OptionError if a side matches no
/// run, and the errors of results::ResultFile if a file is not a results file.
std::pair<Side, Side> read_sides(const CompareQuery& asked);

using Outcome = stats::Verdict;
std::string outcome_name(Outcome outcome);  ///< "better" ... "too noisy", "too few runs"

struct CompareRow {
    std::string measurement, unit;
    vocabulary::Better better = vocabulary::Better::neither;
    double median_a = stats::kNone, median_b = stats::kNone;  ///< of the runs' values
    stats::Difference difference;
    double corrected_p = stats::kNone;  ///< by Holm, over all rows that have enough runs
    Outcome outcome = Outcome::too_few_runs;
    /// Runs per side that would detect the smallest change of interest; 0: not known, or the row
    /// has a verdict.
    std::size_t runs_needed = 0;
    std::vector<double> a = {}, b = {};  ///< a value per process

    bool is_open() const {
        return outcome == Outcome::too_noisy || outcome == Outcome::too_few_runs;
    }
};

/// A setting or fact whose values differ between the sides.
struct DifferingKey {
    std::string key;
    std::vector<std::string> a, b;  ///< the values that occur
    /// The difference was allowed (--ignore); false: a fact that may always differ, which is only
    /// noted.
    bool allowed = false;
};

/// The runs of one configuration.
struct CompareGroup {
    std::string command;
    model::Conditions settings;  ///< shared by all its runs
    std::string title;           ///< what distinguishes the configuration from the others
    std::size_t runs_a = 0, runs_b = 0;
    std::size_t shared = 0;  ///< runs that are on both sides
    std::vector<DifferingKey> differing;
    std::vector<std::string> notes;
    std::vector<CompareRow> rows;

    bool same_runs() const { return shared == runs_a && runs_a == runs_b; }
};

struct SideSummary {
    std::string name;
    /// Usable runs: those of configurations that the other side lacks, too.
    std::size_t runs = 0;
    std::string first_utc, last_utc;
    std::vector<std::string> labels, versions, revisions;
    std::vector<std::pair<std::string, std::size_t>> left_out;  ///< reason, runs
};

struct Comparison {
    double min_effect = 0.03;
    SideSummary a, b;
    std::vector<CompareGroup> groups;
    std::vector<std::string> only_a, only_b;  ///< configurations that the other side lacks

    std::size_t count(Outcome outcome) const;
    /// A and B are the same runs, which show no difference.
    bool same_runs() const;
    /// Number of rows without a verdict and of configurations that one side lacks.
    std::size_t inconclusive() const;
    /// "worse" if any row is; otherwise the first that applies of inconclusive, better, changed and
    /// same.
    std::string overall() const;
};

/// Throws OptionError if A and B have no command in common, if their runs of one command differ in
/// settings or surroundings that may not differ, or if they lack a requested measurement. Throws
/// Error with the code invalid_measurement if no run of a side is usable.
Comparison compare(const Side& a, const Side& b, const CompareOptions& options);

/// The verdicts that make a gate fail.
struct Gate {
    bool fail_on_regression = false;
    bool fail_on_inconclusive = false;
};
/// Returns below_threshold if the gate fails on a worse row, invalid_measurement if it fails on a
/// row without a verdict, else 0.
int exit_code_of(const Comparison& comparison, const Gate& gate);

/// The verdict, a table per configuration, and notes.
std::string comparison_text(const Comparison& comparison, const Gate& gate);
/// One object by docs/schema/compare.schema.json, ending in a newline; NaN and infinities are null.
std::string comparison_json(const Comparison& comparison, const Gate& gate);
/// Markdown for a comment on a pull request.
std::string comparison_markdown(const Comparison& comparison, const Gate& gate);
/// Whether the gate passes, with the reason; "" without a gate.
std::string gate_line(const Comparison& comparison, const Gate& gate);

}  // namespace ranklab::report::compare
