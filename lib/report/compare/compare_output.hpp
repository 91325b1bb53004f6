// A comparison for a person, for a program, and for a pull request's page.
#pragma once

#include <string>
#include <vector>

#include "report/compare/compare.hpp"

namespace ranklab::report::compare {

/// `#` lines on what is compared and how, a table a configuration, a row a measurement; at the end the lines
/// `Verdict: ...` and, with a gate, `Gate: ...`.
std::string comparison_text(const Comparison& comparison, const Gate& gate);

/// One object by docs/schema/compare.schema.json, ending in a newline; numbers that are none are null.
std::string comparison_json(const Comparison& comparison, const Gate& gate);

/// For a comment: the verdict first, then the tables.
std::string comparison_markdown(const Comparison& comparison, const Gate& gate);

/// "worse: 1 worse, 2 same": the overall verdict and the rows by outcome.
std::string verdict_line(const Comparison& comparison);
/// "" without a gate; otherwise whether it passes, and why: rows that are worse, rows without a verdict.
std::string gate_line(const Comparison& comparison, const Gate& gate);
/// All that a reader must know beside the rows: runs left out, what differs, the order of measuring, what has
/// no counterpart, runs needed.
std::vector<std::string> comparison_notes(const Comparison& comparison);

}  // namespace ranklab::report::compare
