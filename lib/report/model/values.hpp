// Values out of runs and tables, and their form for a person's eye.
#pragma once

#include <cstddef>
#include <string>

#include "results/run.hpp"

namespace ranklab::report::model {

/// Four significant digits; "n/a" for NaN.
std::string number(double value);
/// The same with so many digits behind the point.
std::string fixed(double value, int digits);
/// "low .. high" of the median; "n/a (n < 6)" where so few samples have none.
std::string interval_text(const stats::Summary& summary);

/// Hosts that took part; 0 where the run names none.
std::size_t node_count(const results::Run& run);

/// Rows that all columns have.
std::size_t row_count(const results::Table& table);
std::string cell(const results::Column& column, std::size_t row);
/// A cell of a column of numbers, whole or not; NaN where there is no such column, row or number.
double number_at(const results::Table& table, const std::string& column, std::size_t row);
/// A cell as text; "" where there is no such column or row.
std::string text_at(const results::Table& table, const std::string& column, std::size_t row);

}  // namespace ranklab::report::model
