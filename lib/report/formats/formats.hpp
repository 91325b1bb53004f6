// A file's runs as text for a terminal, and for other programs. docs/output_formats.md describes
// each form.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/model/chosen_runs.hpp"
#include "report/model/groups.hpp"
#include "report/model/scaling.hpp"
#include "results/run.hpp"

namespace ranklab::report::formats {

/// How the answer of a run is shown.
struct Screen {
    bool colour = false;  ///< of warnings and verdicts
    bool whole = false;   ///< all warnings
};

/// The answer in 80 columns: measurements, the limit, at most three warnings, and at the end the
/// lines `result` and `verified`. An invalid run says INVALID and why. For a training run it begins
/// with the lines
///   Img/sec per rank: m +- h
///   Total img/sec on N rank(s): M +- H
/// from throughput_samples_per_s (M: the median; H: the longer side of its 95 % interval; m and h:
/// these divided by N).
std::string answer_text(const results::Run& run, const Screen& screen = {});
/// The answer on one line: the rate, or why there is none.
std::string answer_line(const results::Run& run);
/// "  name          value", on as many lines of 80 columns as it takes; "" without a value.
std::string screen_line(std::string_view name, std::string_view value);

/// The text of one run: its work, time and place, the answer, the phases; with `verbose` all
/// measurements and tables. `network`: a sentence on the network's time for the buckets.
std::string run_text(const results::Run& run, bool verbose, const std::string& network = "");

/// A list of runs, the last ones of `all`. `chosen` describes these runs; `see_one`: the command
/// that shows the run of an id.
std::string runs_text(const Frame& list, std::size_t all, const std::string& chosen,
                      const std::string& see_one);

/// A run of comm in the form of nccl-tests' output: its columns stand at their places, and
/// ranklab's own to their right. Every line but the rows begins with '#'. "" where no such message
/// was measured.
std::string nccl_text(const results::Run& run);

/// A row a group with its scaling; the verdicts first. Invalid runs are left out and counted.
std::string groups_text(const model::Groups& groups);
std::string groups_markdown(const model::Groups& groups, const std::string& chosen);
std::string groups_latex(const model::Groups& groups, const std::string& chosen);
std::string groups_csv(const model::Groups& groups);
/// One line {"schema":1,"group_by":[...],"efficiency_per":"core","groups":[...],"findings":[...]};
/// null where there is no number.
std::string groups_json(const model::Groups& groups);

// For other programs, one run held at a time.

/// Writes CSV: `#` comment lines, one header, one row per measurement. Numbers read back to the
/// same double; NaN is an empty field.
void write_csv(const model::ChosenRuns& runs, const model::Sink& sink);

/// Writes {"schema":1,"runs":[...]} in the given order, one line per run, by
/// docs/schema/report.schema.json. Numbers read back to the same double; NaN and infinities become
/// null. Samples are left out.
std::string runs_json(const std::vector<results::Run>& runs);
void write_json(const model::ChosenRuns& runs, const model::Sink& sink);

/// Writes Google Benchmark's JSON, for its tools/compare.py: a benchmark is a time of a
/// configuration, a repetition is a run, or a step of the only run.
void write_gbench(const model::ChosenRuns& runs, const model::Sink& sink);

/// Writes JSON lines for Extra-P, one per median of a valid run. `keys`: the settings that are
/// parameters (empty: ranks); `ranks` is written as p. A single-device run on one rank begins the
/// ladders of its workload. Warns of measurements that are left out, since Extra-P takes only those
/// that have all points. OptionError where a parameter is not a number in some run.
void write_extrap(const model::ChosenRuns& runs, const std::vector<std::string>& keys,
                  const model::Sink& sink);

/// Writes Chrome's Trace Event Format, for Perfetto: the first `most_steps` counted steps
/// (repetitions of io) of each run that stored samples; without a choice only the newest run. Warns
/// of requested runs that are left out; OptionError where all are.
void write_chrome_trace(const model::ChosenRuns& runs, std::size_t most_steps,
                        const model::Sink& sink);

/// "train/mnist-cnn/ddp/bucketed", "io/mpi-send/files:15/size:100": the work of a run without its
/// amount. It has the precision and the device where they are not fp32 and cpu, and the data set
/// where it is not synthetic. Spaces become '_'.
std::string workload_name(const results::Run& run);

}  // namespace ranklab::report::formats
