// Values out of runs and tables, and their form for a person's eye.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "results/run.hpp"

namespace ranklab::report::model {

/// Beyond it a number has a power of ten.
constexpr double kMostInDigits = 1e15;

/// Four significant digits; "n/a" for NaN and infinities.
std::string number(double value);
/// The same with so many digits behind the point.
std::string fixed(double value, int digits);
/// "low .. high", each by `form`; "n/a", with the reason where n is too small for one.
std::string interval_text(const stats::Interval& interval, std::size_t n,
                          const std::function<std::string(double)>& form = number);
/// "1 rank", "2 ranks".
std::string counted(std::size_t count, const std::string& what);
/// The first `most` of them, and how many more there are: "a, b and 3 more".
template <class Texts>
std::string some_of(const Texts& all, std::size_t most, std::string_view between = ", ") {
    const std::size_t shown = std::min<std::size_t>(all.size(), most);
    const std::vector<std::string> first(all.begin(),
                                         std::next(all.begin(), static_cast<std::ptrdiff_t>(shown)));
    const std::string more = all.size() > shown ? " and " + std::to_string(all.size() - shown) + " more" : "";
    return base::join(first, between) + more;
}
/// The same, each fit for a sentence (base::printable).
template <class Texts>
std::string some_of(const Texts& all, std::size_t most, std::string_view between, std::size_t longest) {
    std::vector<std::string> clean;
    for (const auto& one : all) clean.push_back(base::printable(one, longest));
    return some_of(clean, most, between);
}

/// Hosts that took part; 0 where the run names none.
std::size_t node_count(const results::Run& run);

/// All that a summary says, under the names that exports and the page have for it.
std::vector<std::pair<std::string, double>> fields_of(const stats::Summary& summary);

/// What the table of epochs says of it at its end; NaN where it says nothing.
double last_of_epochs(const results::Run& run, const std::string& measurement);
/// What it is after the last epoch where the run tells of epochs, since a median over them would be that of a
/// half-trained model; otherwise its median. NaN where it has none.
double final_value(const results::Run& run, const std::string& measurement);

/// Rows that all columns have.
std::size_t row_count(const results::Table& table);
std::string cell(const results::Column& column, std::size_t row);
/// A cell of a column of numbers, whole or not; NaN where there is no such column, row or number.
double number_at(const results::Table& table, const std::string& column, std::size_t row);
/// A cell as text; "" where there is no such column or row.
std::string text_at(const results::Table& table, const std::string& column, std::size_t row);

}  // namespace ranklab::report::model
