// Runs as text for a terminal and in the formats of other programs, which docs/output_formats.md
// describes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/model/chosen_runs.hpp"
#include "report/model/groups.hpp"
#include "report/model/scaling.hpp"
#include "results/run.hpp"

namespace ranklab::report::formats {

struct Screen {
    bool colour = false;      ///< colours warnings and verdicts
    bool whole = false;       ///< shows all warnings
    std::string advice = {};  ///< an option to try
};

/// The answer in 80 columns: measurements, the breakdown, at most three warnings, and at the end
/// the lines `result` and `verified`; for an invalid run INVALID and the reasons. A training run
/// begins with "Img/sec per rank: m +- h" and "Total img/sec on N rank(s): M +- H": the median of
/// throughput_samples_per_s and the longer half of its 95 % interval; m and h are divided by N.
std::string answer_text(const results::Run& run, const Screen& screen = {});
/// The answer on one line: the rate, or the reason for INVALID.
std::string answer_line(const results::Run& run);
/// "; MFU 41.2 % of 0.164 TFLOP/s (the source of this peak)": the rates of a training run besides
/// samples/s; "" for most.
std::string other_rates(const results::Run& run);
/// "  name          value", wrapped to 80 columns; "" without a value.
std::string screen_line(std::string_view name, std::string_view value);

/// The text of one run: command line, time, hosts, answer and phases; with `verbose` all
/// measurements and tables.
std::string run_text(const results::Run& run, bool verbose);

/// The text of `list`, which holds the last of `all` runs. `chosen` describes the choice of runs;
/// `see_one` followed by an id is the command that shows a run.
std::string runs_text(const Frame& list, std::size_t all, const std::string& chosen,
                      const std::string& see_one);

/// The table of groups with their scaling, and the verdicts; Markdown and LaTeX with the words for
/// the chosen runs.
std::string groups_text(const model::Groups& groups, const std::string& chosen = "");
std::string groups_markdown(const model::Groups& groups, const std::string& chosen);
std::string groups_latex(const model::Groups& groups, const std::string& chosen);
std::string groups_csv(const model::Groups& groups, const std::string& chosen = "");
/// One line {"schema":1,"group_by":[...],"efficiency_per":"core","groups":[...],"findings":[...]}.
std::string groups_json(const model::Groups& groups, const std::string& chosen = "");

// Formats for other programs. Each writer holds one run at a time in memory.

/// Writes CSV: `#` comment lines, one header, one row per measurement. Numbers have all digits; NaN
/// is an empty field.
void write_csv(const model::ChosenRuns& runs, const model::Sink& sink);

/// Writes {"schema":1,"runs":[...]} by docs/schema/report.schema.json, one line per run, without
/// samples. Numbers have all digits; NaN and infinities become null.
std::string runs_json(const std::vector<results::Run>& runs);
void write_json(const model::ChosenRuns& runs, const model::Sink& sink);

/// Writes the JSON of Google Benchmark, for its tools/compare.py. A benchmark is a time of one
/// configuration, a repetition one of its runs, or one step if there is a single run.
void write_gbench(const model::ChosenRuns& runs, const model::Sink& sink);

/// Writes JSON lines for Extra-P, one per median of a valid run. `keys`: the settings that become
/// parameters (empty: ranks); `ranks` is written as p. A single-device run on one rank is the first
/// point of every series of its workload. Warns of series that are left out because they lack a
/// point of the longest series. Throws OptionError if a parameter of a run is not a number.
void write_extrap(const model::ChosenRuns& runs, const std::vector<std::string>& keys,
                  const model::Sink& sink);

/// Writes Chrome's Trace Event Format, for Perfetto: the first `most_steps` counted steps
/// (repetitions of io) of each chosen run; if no runs were chosen, of the newest run. Warns of runs
/// without samples per rank; throws OptionError if no chosen run has them.
void write_chrome_trace(const model::ChosenRuns& runs, std::size_t most_steps,
                        const model::Sink& sink);

/// The work of a run, without ranks and batch: "train/mnist-cnn/ddp/bucketed",
/// "io/mpi-send/files:15/size:100", with precision, device and data set if they are unusual. Spaces
/// become '_'.
std::string workload_name(const results::Run& run);

}  // namespace ranklab::report::formats
