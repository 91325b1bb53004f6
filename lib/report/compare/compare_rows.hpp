// Private to this room: the rows of a comparison, and their verdicts.
#pragma once

#include <string>
#include <vector>

#include "report/compare/compare.hpp"
#include "report/compare/compare_groups.hpp"

namespace ranklab::report::compare {

/// A row whose verdict is still to come: it depends on how many rows there are.
struct OpenRow {
    CompareRow row;
    std::vector<double> a, b;  ///< a value a process (process_of)
};

/// Some run has that measurement. DataError where the runs do not agree on its unit.
OpenRow open_row(const std::string& measurement, const Runs& a, const Runs& b);

/// p-values corrected over all rows with enough runs, then the verdicts, and where there is none the runs
/// needed.
void close_rows(const std::vector<OpenRow*>& rows, double smallest);

}  // namespace ranklab::report::compare
