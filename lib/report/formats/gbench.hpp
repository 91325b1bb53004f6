// Runs in the JSON of Google Benchmark, whose tools/compare.py reads it.
#pragma once

#include "report/model/chosen_runs.hpp"

namespace ranklab::report::formats {

/// A benchmark is a time of a configuration: "train/mnist-cnn/ddp/bucketed/ranks:2/batch:32/step_time", in
/// us. Its repetitions (run_type iteration) are the medians of the valid runs of that name where there are
/// several, and the repetitions of the one run where there is one; `label` says which. From two on median,
/// mean, stddev and cv follow as aggregates. Rates are counters of the time that they are made of:
/// items_per_second, bytes_per_second. CPU time is not measured: cpu_time repeats real_time. The context is
/// that of the newest run.
void write_gbench(const model::ChosenRuns& runs, const model::Sink& sink);

}  // namespace ranklab::report::formats
