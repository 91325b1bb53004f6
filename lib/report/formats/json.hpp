// Runs as JSON: the schema of the interface's `report --format json`.
#pragma once

#include <string>
#include <vector>

#include "report/model/chosen_runs.hpp"
#include "results/run.hpp"

namespace ranklab::report::formats {

/// {"schema":1,"runs":[...]} in the order given, one line a run, ending in a newline. Numbers are written
/// so that they read back to the same double; NaN and infinities become null. Samples are left out.
std::string runs_json(const std::vector<results::Run>& runs);

/// The same of a file's runs, holding one at a time. docs/schema/report.schema.json describes it.
void write_json(const model::ChosenRuns& runs, const model::Sink& sink);

}  // namespace ranklab::report::formats
