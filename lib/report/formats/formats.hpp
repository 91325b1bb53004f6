// A file's runs for a person's eye and for other programs, one run held at a time. docs/output_formats.md
// describes each form.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/model/chosen_runs.hpp"
#include "report/model/run_list.hpp"
#include "report/model/step_network.hpp"
#include "results/run.hpp"

namespace ranklab::report::formats {

/// How the first screen of a run is shown.
struct Screen {
    bool colour = false;   ///< of warnings and verdicts
    std::string all = {};  ///< what to type to see all there is, a clause; "": nothing is said of it
};

/// The first screen of a run, in 80 columns: its rates with their intervals (the two lines that run_text
/// has), what limits it, whether communication is hidden, where reads came from, what was verified, warnings.
/// Of a comparison of several runs: the fastest, by how much, and a row for each. What is not known is not
/// there, or said to be unknown. An invalid run says so first, and why.
std::string answer_text(const results::Run& run, const Screen& screen = {});
/// The same on one line: the rate, or that there is none and why.
std::string answer_line(const results::Run& run);

/// What ran, when and where; the table of phases; the rates with the lines
///   Img/sec per rank: m +- h
///   Total img/sec on N rank(s): M +- H
/// of throughput_samples_per_s (M: median; H: the longer side of its 95 % interval; m, h: divided by
/// N); accuracy, memory, tables, warnings. Units stand in the first column; numbers are not scaled.
/// An invalid run says INVALID with the reasons and shows no rates.
/// `network` is what network_line says of it.
std::string run_text(const results::Run& run, const model::HowTo& how_to = {},
                     const std::string& network = "");

/// Of a training run: what the network gives its buckets beside what its step pays, by a run of comm in the
/// same file; where there is none, that and `how_to` (a clause). "" for a run that does not communicate.
std::string network_line(const results::ResultFile& file, const results::Run& training,
                         const std::string& how_to);
/// The same of one that is known.
std::string network_words(const model::StepNetwork& beside);

/// One line a run in the order given, of more than `shown` the last ones, how many there are of each command
/// and label, and what to type to see one. `chosen` says which runs these are.
std::string runs_text(const std::vector<model::ListedRun>& runs,
                      std::size_t shown = static_cast<std::size_t>(-1), const std::string& chosen = "",
                      const model::HowTo& how_to = {});

/// What the runs of one command come to over ranks, threads or loader threads: the tables `scaling` and
/// `verdicts`, as write_group_text would say it of these runs by these keys. No tables where the keys hold
/// none of these, or no run is valid. The runs have the samples of scaling_times().
std::vector<results::Table> scaling_tables(const std::vector<results::Run>& runs,
                                           const std::vector<std::string>& keys);

struct Grouping {
    std::vector<std::string> keys;          ///< as of value_of: "ranks", "sync", "host.cpu"
    std::vector<std::string> measurements;  ///< empty: the headline ones of the commands there are
    std::vector<std::string> allow = {};    ///< surroundings that may differ within a group (RunGroups)
};

/// A row a group: how many runs, the median over runs of the runs' medians with its 95 % interval (from 6
/// runs on; of a single run the interval over its repetitions, marked), and where a key is `ranks` speedup
/// and efficiency over the fewest ranks. Invalid runs are left out and counted; the base, what is the same in
/// all runs and what differs inside a group stand below.
void write_group_text(const model::ChosenRuns& runs, const Grouping& grouping, const model::Sink& sink);
/// The same as GitHub's Markdown, with a line that says under what conditions.
void write_group_markdown(const model::ChosenRuns& runs, const Grouping& grouping, const model::Sink& sink);

/// The same numbers for a program: {"schema":1,"group_by":[...],"efficiency_per":"core","groups":[...]}, one
/// line; null where there is no number.
void write_group_json(const model::ChosenRuns& runs, const Grouping& grouping, const model::Sink& sink);

/// CSV: `#` comment lines, one header, one row a measurement. Numbers read back to the same double; NaN is an
/// empty field; a text that a spreadsheet would take for a formula has an apostrophe before it.
std::string runs_csv(const std::vector<results::Run>& runs);
void write_csv(const model::ChosenRuns& runs, const model::Sink& sink);

/// {"schema":1,"runs":[...]} in the order given, one line a run, ending in a newline, as
/// docs/schema/report.schema.json describes it. Numbers are written so that they read back to the same
/// double; NaN and infinities become null. Samples are left out.
std::string runs_json(const std::vector<results::Run>& runs);
/// The same of one run.
std::string one_run_json(const results::Run& run);
void write_json(const model::ChosenRuns& runs, const model::Sink& sink);

/// Google Benchmark's JSON, for its tools/compare.py: a benchmark is a time of a configuration, a repetition
/// a run, or a step of the only run.
void write_gbench(const model::ChosenRuns& runs, const model::Sink& sink);

/// For Extra-P: JSON lines, one a median of a valid run. `keys`: the settings that are parameters, empty:
/// ranks; `ranks` is written as p. OptionError where one is no number in some run.
void write_extrap(const model::ChosenRuns& runs, const std::vector<std::string>& keys,
                  const model::Sink& sink);

/// Chrome's Trace Event Format, for Perfetto: of each run that stored samples the first `most_steps` counted
/// steps (repetitions of io). Of everything the newest run alone is drawn. A sentence of each run that was
/// asked for and is left out; OptionError where all are.
std::vector<std::string> write_chrome_trace(const model::ChosenRuns& runs, std::size_t most_steps,
                                            const model::Sink& sink);

}  // namespace ranklab::report::formats
