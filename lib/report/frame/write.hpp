// Writers of a Frame, one file each. Those for people show numbers in the units that people read; those for
// programs (csv, json) all digits in base units.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "report/frame/frame.hpp"

namespace ranklab::report {

/// Columns aligned on a screen of 80, keys flush left; of a wider table the columns come in blocks behind the
/// keys. A column `note` refers to the doubts of the rows, which stand below it, and the notes below these.
std::string text_of(const Frame& frame);
/// RFC 4180: one header, a row each; an interval is two columns more, NAME_low and NAME_high; the doubts'
/// sentences are the column `marks`. A column with numbers has no words. A text that a spreadsheet would take
/// for a formula has an apostrophe before it.
std::string csv_of(const Frame& frame);
std::string csv_cell(const std::string& text);
/// One line that every reader takes: numbers that are none become null, bytes that are no UTF-8 U+FFFD.
std::string json_line(const nlohmann::ordered_json& json);
/// GitHub's.
std::string markdown_of(const Frame& frame);
/// Fit for a cell or a line of it.
std::string markdown_text(const std::string& text);
/// A table environment with booktabs; `label` is that of \ref.
std::string latex_of(const Frame& frame, const std::string& label);
/// A <table>; each number has all its digits as data-value. Doubts and notes stand below it.
std::string html_of(const Frame& frame);
/// Fit for an element's text and for a quoted attribute: markup, control characters, broken UTF-8 and marks
/// that turn the direction of writing are replaced.
std::string html_escape(std::string_view text);

}  // namespace ranklab::report
