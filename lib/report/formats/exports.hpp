// A file's runs for other programs, one run held at a time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/model/chosen_runs.hpp"
#include "results/run.hpp"

namespace ranklab::report::formats {

/// CSV: `#` comment lines, one header, one row a measurement. Numbers read back to the same double; NaN is an
/// empty field.
std::string runs_csv(const std::vector<results::Run>& runs);
void write_csv(const model::ChosenRuns& runs, const model::Sink& sink);

/// {"schema":1,"runs":[...]} in the order given, one line a run, as docs/schema/report.schema.json describes
/// it. Numbers read back to the same double; NaN and infinities become null. Samples are left out.
std::string runs_json(const std::vector<results::Run>& runs);
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
