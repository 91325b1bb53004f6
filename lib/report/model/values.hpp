// Values out of runs and their tables.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "report/frame/frame.hpp"
#include "results/run.hpp"

namespace ranklab::report::model {

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

/// All that a summary says, under the names that exports have for it.
std::vector<std::pair<std::string, double>> fields_of(const stats::Summary& summary);

/// What a measurement is after the last epoch where the run tells of epochs, since a median over them would
/// be that of a half-trained model; otherwise its median. NaN where it has none.
double final_value(const results::Run& run, const std::string& measurement);

/// Rows that all columns have.
std::size_t row_count(const results::Table& table);
/// A cell of a column of numbers, whole or not; NaN where there is no such column, row or number.
double number_at(const results::Table& table, const std::string& column, std::size_t row);
/// A cell as text; "" where there is no such column or row.
std::string text_at(const results::Table& table, const std::string& column, std::size_t row);

/// A stored table for people: units in place of the endings of the columns' names, each interval (low, high)
/// with its column, without texts that say nothing. Of more rows than `most` the first, or of a table with a
/// row a rank those that matter most; a note says how many more there are.
Frame frame_of(const results::Table& table, std::size_t most = SIZE_MAX);

/// The run's measurements, but for those of single messages, which have their own table: a row each.
Frame measurements_of(const results::Run& run);

}  // namespace ranklab::report::model
