// A file's runs for other programs, one run held at a time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/model/chosen_runs.hpp"
#include "results/run.hpp"

namespace ranklab::report::formats {

/// CSV: `#` comment lines, one header, one row a measurement. Quoted by RFC 4180 (lines end in \n); numbers
/// read back to the same double; NaN is an empty field. Bytes of texts that are not UTF-8 become U+FFFD. A
/// text that a spreadsheet would take for a formula (it begins with = + - @, a tab or a line's end), or that
/// begins with an apostrophe, has an apostrophe before it.
std::string runs_csv(const std::vector<results::Run>& runs);

void write_csv(const model::ChosenRuns& runs, const model::Sink& sink);

/// {"schema":1,"runs":[...]} in the order given, one line a run, ending in a newline. Numbers are written
/// so that they read back to the same double; NaN and infinities become null. Samples are left out.
std::string runs_json(const std::vector<results::Run>& runs);

/// docs/schema/report.schema.json describes it.
void write_json(const model::ChosenRuns& runs, const model::Sink& sink);

/// For Google Benchmark's tools/compare.py, in its JSON.
/// A benchmark is a time of a configuration: "train/mnist-cnn/ddp/bucketed/ranks:2/batch:32/step_time", in
/// us. Its repetitions (run_type iteration) are the medians of the valid runs of that name where there are
/// several, and the repetitions of the one run where there is one; `label` says which. From two on median,
/// mean, stddev and cv follow as aggregates. Rates are counters of the time that they are made of:
/// items_per_second, bytes_per_second. CPU time is not measured: cpu_time repeats real_time. The context is
/// that of the newest run.
void write_gbench(const model::ChosenRuns& runs, const model::Sink& sink);

/// For Extra-P, which models how times grow: JSON lines, one a value.
/// {"params":{"p":2},"callpath":"train/mnist-cnn->forward","metric":"time","value":0.01}: the median of each
/// valid run; runs of equal parameters are Extra-P's repetitions. The callpath is the workload, below it the
/// phases; times are in seconds, other measurements are metrics under their own names. `keys`: the settings
/// that are parameters, empty: ranks; `ranks` is written as p. OptionError where one is no number in some
/// run.
void write_extrap(const model::ChosenRuns& runs, const std::vector<std::string>& keys,
                  const model::Sink& sink);

/// Chrome's Trace Event Format, which Perfetto and chrome://tracing open.
/// Of each run that stored samples, the first `most_steps` counted steps (repetitions of io): a process is a
/// run on a host, a thread a rank, a complete event a step or one of its phases. What the file holds are
/// durations: a rank's steps are set one after another, without what lies between them, and the phases inside
/// a step in their usual order, without gaps; the metadata says so. Of everything the newest run alone is
/// drawn.
void write_chrome_trace(const model::ChosenRuns& runs, std::size_t most_steps, const model::Sink& sink);

}  // namespace ranklab::report::formats
