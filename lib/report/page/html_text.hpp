// Private to this room: text and numbers as HTML. What a results file holds may come from anywhere: nothing
// of it reaches a page but through escape().
#pragma once

#include <string>
#include <string_view>

#include "report/model/campaign.hpp"
#include "results/run.hpp"

namespace ranklab::report::page {

/// Fit for an element's text and for a quoted attribute: markup, control characters, broken UTF-8 and marks
/// that turn the direction of writing are replaced. Past `most` characters it is cut short with "…".
std::string escape(std::string_view text, std::size_t most = 300);

/// A name that may stand in id="" and href="#": letters, digits, '-' and '_'; others become '-'.
std::string anchor(std::string_view text);

/// The head of a measurement's column: a link to its definition.
std::string definition_link(const std::string& name);

/// A number that stands in the file, four digits for the eye and all of them in data-value and the tooltip,
/// with the place where it stands. `field` is the JSON's ("median", "ci95_low"). NaN: "n/a".
std::string number_html(const results::Run& run, const results::Measurement& measurement,
                        const std::string& field);
/// The same of a table's cell.
std::string cell_html(const results::Run& run, const results::Table& table, const std::string& column,
                      std::size_t row);
/// A number that was computed from the file's: `formula` says how, and from which runs.
std::string derived_html(double value, const std::string& formula);
/// "[low .. high]" of a measurement's median; "" where there is no interval.
std::string interval_html(const results::Run& run, const results::Measurement& measurement);
std::string derived_interval_html(const stats::Interval& interval, const std::string& formula);

/// A group's estimate with its interval and where they are from; "" where it has none.
std::string estimate_html(const model::Group& group, const std::string& measurement);

/// The JSON's field of that name; NaN where there is none.
double field_of(const stats::Summary& summary, const std::string& field);

}  // namespace ranklab::report::page
