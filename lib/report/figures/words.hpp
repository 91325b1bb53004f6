// What a reader reads beside a picture or in a table: text with its numbers and where they are from. It has
// no markup; the page makes that, and a picture for paper takes the text alone.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/model/grouped_runs.hpp"
#include "results/run.hpp"
#include "stats/summary.hpp"

namespace ranklab::report::figures {

/// NaN: there is none.
struct Number {
    double value = stats::kNone;
    /// Where it stands in the file ("run", "name", "field"; "table", "column", "row"), or "derived" with its
    /// formula, or "reference".
    std::vector<std::pair<std::string, std::string>> place = {};
    std::string explanation = "";  ///< what follows the number with all its digits, " s: median of ..."
    bool every_digit = false;      ///< for the eye, too: it was published so
    double divided_by = 1;         ///< for the eye alone: bytes are shown in MiB

    double shown_value() const { return value / divided_by; }
};

struct Word {
    enum class Kind { plain, strong, soft, good, bad, none, definition, number, interval };

    Word(std::string words) : text(std::move(words)) {}
    Word(const char* words) : text(words) {}
    Word(Number one) : kind(Kind::number), numbers{std::move(one)} {}
    Word(Kind what, std::string words, std::vector<Number> some = {})
        : kind(what), text(std::move(words)), numbers(std::move(some)) {}

    Kind kind = Kind::plain;
    std::string text;
    std::vector<Number> numbers;  ///< one of a number, low and high of an interval
};
using Words = std::vector<Word>;

/// The name of a measurement, where its definition can be looked up.
Word definition(std::string_view name);
Word strong(std::string text);
/// Less important, as a unit.
Word soft(std::string text);

/// A number that stands in the file; `field` is the JSON's ("median", "ci95_low").
Number number_of(const results::Run& run, const results::Measurement& measurement, const std::string& field);
/// A number that was computed from the file's: `formula` says how, and from which runs.
Number derived(double value, const std::string& formula);
/// With its interval where it has one.
Words derived_with_interval(double value, const stats::Interval& interval, const std::string& formula);
/// A table's cell, whether number or text.
Words cell_of(const results::Run& run, const results::Table& table, const std::string& column,
              std::size_t row);
/// "low .. high" of two columns.
Word cell_interval(const results::Run& run, const results::Table& table, std::size_t row,
                   const std::string& low = "low_s", const std::string& high = "high_s");
/// A group's estimate with its interval and where they are from; none where it has none.
Words estimate_of(const model::Group& group, std::string_view measurement);

/// What people read a unit in: memory and storage in MiB. The numbers keep their values, with all digits.
std::string unit_for_reading(const std::string& unit);
Words for_reading(Words words, const std::string& unit);

void append(Words& words, Words more);
/// Without anything that is behind the words.
std::string plain_text(const Words& words);

/// All of a number's digits; and four for a person's eye, whole ones above a thousand in groups of three.
std::string exact(double value);
std::string shown(double value);
/// Past `most` letters it is cut short with "…".
std::string cut(std::string_view text, std::size_t most);
/// For a file or an anchor: letters, digits, '-' and '_'; others become '-'.
std::string plain_name(std::string_view text);

}  // namespace ranklab::report::figures
