// Values out of runs and their tables.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "report/frame/frame.hpp"
#include "results/result_file.hpp"

namespace ranklab::report::model {

/// The first `most` texts and the number of the others: "a, b and 3 more". With `longest` each is
/// made fit for a sentence (base::printable).
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

/// The run's value of `key`, as text: a setting ("model"), a field of the run (id, command, label,
/// version, git_revision, exit_code, cut_short, valid: 0 or 1), `ranks` or `nodes` (of the hosts
/// that took part), or a fact of the context ("machine.kernel": section.key). A setting goes first.
/// "" without a value.
std::string value_of(const results::Run& run, const std::string& key);
/// OptionError for a key or measurement that neither the vocabulary nor a run of these files has.
/// With files without runs nothing is refused.
void refuse_unknown_keys(const std::vector<std::string>& keys,
                         const std::vector<results::ResultFile>& files);
void refuse_unknown_measurements(const std::vector<std::string>& names,
                                 const std::vector<results::ResultFile>& files);

/// Hosts that took part; 0 where the run names none.
std::size_t node_count(const results::Run& run);

/// All that a summary says, under the names that exports have for it.
std::vector<std::pair<std::string, double>> fields_of(const stats::Summary& summary);

/// The value after the last epoch where the run has epochs, since a median over them would be that
/// of a half-trained model; otherwise the median. NaN where there is none.
double final_value(const results::Run& run, const std::string& measurement);

/// Rows that all columns have.
std::size_t row_count(const results::Table& table);
/// A cell of a column of numbers, whole or not; NaN where there is no such column, row or number.
double number_at(const results::Table& table, const std::string& column, std::size_t row);
/// A cell as text; "" where there is no such column or row.
std::string text_at(const results::Table& table, const std::string& column, std::size_t row);

/// A part of a training step's time, from the table `phases`: means over ranks and counted steps,
/// so that all parts, with `other`, add up to the step. (Measurements of phases are the slowest
/// rank's in each step; those do not add up.)
struct StepPart {
    std::string phase;             ///< "forward", "other"
    double mean_s = stats::kNone;  ///< in a step
    double percent = stats::kNone;
};
/// In the table's order; none where the run has no such table.
std::vector<StepPart> step_parts(const results::Run& run);

/// The share of its job that a run used, as seff reports it for a Slurm job, from the table
/// `job_use`: "97 % of 2 CPUs for 14.2 s (waiting in MPI counts), 812 MiB of memory"; "" where
/// nothing is known.
std::string use_text(const results::Run& run);

/// A stored table for people: units in place of the endings of the columns' names, each interval
/// (low, high) with its column, without texts that say nothing. It keeps the first `most` rows, or
/// the most important ones where a row is a rank; a note gives the number of the others.
Frame frame_of(const results::Table& table, std::size_t most = SIZE_MAX);

/// The run's measurements, a row each, except those of single messages, which have their own table.
Frame measurements_of(const results::Run& run);

}  // namespace ranklab::report::model
