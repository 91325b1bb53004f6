// Runs as CSV: `#` comment lines, one header, one row a measurement.
#pragma once

#include <string>
#include <vector>

#include "report/model/chosen_runs.hpp"
#include "results/run.hpp"

namespace ranklab::report::formats {

/// Quoted by RFC 4180 (lines end in \n); numbers read back to the same double; NaN is an empty field.
/// Bytes of texts that are not UTF-8 become U+FFFD. A text that a spreadsheet would take for a formula (it
/// begins with = + - @, a tab or a line's end), or that begins with an apostrophe, has an apostrophe before
/// it.
std::string runs_csv(const std::vector<results::Run>& runs);

/// The same of a file's runs, holding one at a time.
void write_csv(const model::ChosenRuns& runs, const model::Sink& sink);

}  // namespace ranklab::report::formats
