// Numbers for people: three significant digits in a suitable unit. CSV and JSON never use them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "report/frame/frame.hpp"
#include "stats/summary.hpp"

namespace ranklab::report {

/// Three significant digits, and all digits before the point: "33.2", "1928", "0.982"; "n/a" for
/// NaN.
std::string digits(double value);
/// "33.2 ms", "324 MiB", "1.20 GB/s", "1928 samples/s"; the number alone if the unit is "" or "1".
std::string readable(double value, std::string_view unit);
/// A value with its interval in the same unit: "33.2 ms (32.9 .. 33.5)".
std::string readable(double value, const stats::Interval& interval, std::string_view unit);
/// The interval alone, in the unit in which `value` is shown: "32.9 .. 33.5"; "" if it is NaN.
std::string readable_interval(const stats::Interval& interval, double value, std::string_view unit);
std::string readable(const Cell& cell, const Column& column);
std::string with_interval(const Cell& cell, const Column& column);
/// "1 rank", "2 ranks".
std::string counted(std::size_t count, const std::string& what);
/// "4 MiB", "1000 B": a message size as a user types it, without a needless fraction.
std::string size_text(double bytes);
/// "83 %", "0.4 %".
std::string percent_text(double percent);

}  // namespace ranklab::report
