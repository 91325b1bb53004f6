// A text as a cell of CSV (RFC 4180) that a spreadsheet does not take for a formula.
#pragma once

#include <string>

namespace ranklab::report::model {

/// Quoted where it must be; behind an apostrophe where a spreadsheet would compute it.
std::string csv_cell(const std::string& text);

}  // namespace ranklab::report::model
