// A file's runs for a person at a terminal. docs/output_formats.md describes each form; exports.hpp has those
// for programs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/model/chosen_runs.hpp"
#include "report/model/groups.hpp"
#include "report/model/run_list.hpp"
#include "report/model/scaling.hpp"
#include "results/run.hpp"

namespace ranklab::report::formats {

/// How the answer of a run is shown.
struct Screen {
    bool colour = false;  ///< of warnings and verdicts
    bool whole = false;   ///< all warnings
};

/// What a person wants to know when a run has ended, in 80 columns: what it measured, what limits it, at most
/// three warnings, and at the end the lines `result` and `verified`. An invalid run says INVALID and why. Of
/// a training run it begins with the lines
///   Img/sec per rank: m +- h
///   Total img/sec on N rank(s): M +- H
/// of throughput_samples_per_s (M: median; H: the longer side of its 95 % interval; m, h: divided by N).
std::string answer_text(const results::Run& run, const Screen& screen = {});
/// The same on one line: the rate, or that there is none and why.
std::string answer_line(const results::Run& run);
/// "  name          value", on as many lines of 80 columns as it takes; "" without a value.
std::string screen_line(std::string_view name, std::string_view value);

/// One run: what ran, when and where, the answer, the phases; with `verbose` all measurements and tables.
/// `network`: what the network gives the buckets, a sentence.
std::string run_text(const results::Run& run, bool verbose, const std::string& network = "");

/// A list of runs, which are the last of `all`. `chosen` says which runs these are; `see_one`: what to type
/// before an id to see one.
std::string runs_text(const Frame& list, std::size_t all, const std::string& chosen,
                      const std::string& see_one);

/// nccl-tests' output for a run of comm: the columns that it has stand where it has them, and ranklab's own
/// to their right. Every line but the rows begins with '#'. "" where nothing of the kind was measured.
std::string nccl_text(const results::Run& run);

/// A row a group with its scaling; the verdicts first. Invalid runs are left out and counted.
std::string groups_text(const model::Groups& groups);
std::string groups_markdown(const model::Groups& groups, const std::string& chosen);
std::string groups_latex(const model::Groups& groups, const std::string& chosen);
std::string groups_csv(const model::Groups& groups);
/// {"schema":1,"group_by":[...],"efficiency_per":"core","groups":[...],"findings":[...]}, one line; null
/// where there is no number.
std::string groups_json(const model::Groups& groups);

}  // namespace ranklab::report::formats
