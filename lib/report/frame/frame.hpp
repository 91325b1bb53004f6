// Frame, the one table type of reports: runs, groups, ladders and stored tables become Frames, and
// every writer takes one.
#pragma once

#include <concepts>
#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/frame/sentences.hpp"
#include "stats/summary.hpp"
#include "vocabulary/names.hpp"

namespace ranklab::report {

namespace fact = vocabulary::fact;
namespace setting = vocabulary::setting;

/// A map that keeps its values in the order in which their keys were first used.
template <class Key, class Thing>
class InsertionOrderedMap {
  public:
    /// Returns the value of `key`; adds an empty one if the key is new.
    Thing& operator[](const Key& key) {
        const auto [place, is_new] = places_.try_emplace(key, all_.size());
        if (is_new) all_.emplace_back();
        return all_[place->second];
    }
    std::vector<Thing>& all() { return all_; }
    const std::vector<Thing>& all() const { return all_; }

  private:
    std::vector<Thing> all_;
    std::map<Key, std::size_t> places_;
};

/// A text, or a number that may have an interval.
struct Cell {
    std::string text = {};
    double number = stats::kNone;
    stats::Interval interval = {};

    Cell() = default;
    Cell(std::string words) : text(std::move(words)) {}
    Cell(const char* words) : text(words) {}
    Cell(double value, stats::Interval ci = {}) : number(value), interval(ci) {}
    Cell(const stats::RatioEstimate& found) : number(found.ratio), interval(found.ci) {}
    Cell(std::integral auto count) : number(static_cast<double>(count)) {}

    bool is_number() const { return number == number; }
    bool empty() const { return text.empty() && !is_number(); }
};

/// What a column says about the rows of its table.
enum class Role {
    derived,    ///< follows from other columns
    key,        ///< identifies the row
    condition,  ///< keeps runs apart: runs that differ here are pooled only on request
    factor,     ///< a setting or fact that numbers depend on: equal in repetitions
    place,      ///< a property of the machine that a row and its baseline should share
    measured,
    scaling,  ///< compares a row with its baseline: speedup, efficiency
    table     ///< the number of rows of a table that the run stored
};

struct Column {
    std::string name;  ///< as machine formats have it, with its unit: "step_time_s"
    /// The unit of the cells: "s", "B", "MiB/s", "1" for a ratio; "" for texts and counts.
    std::string unit = {};
    Role role = Role::derived;
    bool interval = false;  ///< whether cells may have an interval
    std::string head = {};  ///< the heading for people; "": the name

    bool is_key() const { return role == Role::key; }
    const std::string& title() const { return head.empty() ? name : head; }
};
/// Columns in a text, separated by |: the name (with * for a key, with +- for cells with
/// intervals), the unit in [], the heading: "ranks* | step_time_s+- [s] step | notes".
std::vector<Column> columns_of(const std::string& text);

struct Row {
    std::vector<Cell> cells = {};  ///< may be fewer than there are columns: the others are empty
    std::vector<Caveat> caveats = {};
    std::vector<std::size_t> members = {};  ///< rows of another table that this row summarises

    bool has(CaveatKind kind) const;
    /// An empty cell if there is no such column.
    const Cell& at(std::size_t column) const;
};

using Places = std::vector<std::size_t>;  ///< indices of columns or rows, from 0

struct Frame {
    std::string title = {};
    std::vector<Column> columns = {};
    std::vector<Row> rows = {};
    std::vector<std::string> notes = {};  ///< sentences below the table

    bool empty() const { return rows.empty(); }
    /// The index of the first column of that name (and role, if given); columns.size() if none.
    std::size_t find(std::string_view column, std::optional<Role> role = {}) const;
    /// The indices of all columns of a role.
    Places all(Role role) const;
    const Cell& at(std::size_t row, std::size_t column) const { return rows[row].at(column); }
    const Cell& at(std::size_t row, std::string_view column) const { return at(row, find(column)); }
    bool has_numbers(std::size_t column) const;
    bool has_caveats() const;
    /// Adds the column if none has its name and role, and returns the index of the column.
    std::size_t add_column(Column column);
    /// Sets the row's cell in the column, which is added if missing. put() does so in the last row.
    void set(std::size_t row, Column column, Cell cell);
    void put(Column column, Cell cell) { set(rows.size() - 1, std::move(column), std::move(cell)); }
    /// Returns a table of these columns in this order, with all rows and notes. Skips indices
    /// beyond the last column.
    Frame select(const Places& columns) const;

    /// Groups the rows by equal cells in these columns. Returns for each group the texts of these
    /// cells, and the indices of the rows.
    std::vector<std::pair<std::vector<std::string>, Places>> group_by(const Places& keys) const;
    /// Sorts the rows by these columns, the first one first: numbers ascending, then texts.
    void sort(const Places& keys);
    /// Removes columns without any cell, except keys.
    void drop_empty_columns();
};

/// Splits the unit from a column's name: "step_time_s" is {"step time", "s"}. The unit is "" if the
/// name has none.
std::pair<std::string, std::string> named_unit(std::string_view column);
/// "step time" for "step_time_s": the head of a column whose cells show their unit.
std::string without_unit(std::string_view name);
/// A decimal that reads back to the same double; "" for NaN.
std::string exact(double number);
/// The cell's text, or its number with all digits.
std::string exact(const Cell& cell);

// Numbers for people: three significant digits in a suitable unit. CSV and JSON never use them.

/// Three significant digits, and all digits before the point: "33.2", "1928", "0.982"; "n/a" for
/// NaN.
std::string digits(double value);
/// "33.2 ms", "324 MiB", "1.20 GB/s", "1928 samples/s"; the number alone if the unit is "" or "1".
std::string readable(double value, std::string_view unit);
/// {size in stored units, name} of the unit in which `value` is shown: {0.001, "ms"} for 0.02 s.
std::pair<double, std::string> shown_unit(double value, std::string_view unit);
/// A value with its interval in the same unit: "33.2 ms (32.9 .. 33.5)".
std::string readable(double value, const stats::Interval& interval, std::string_view unit);
/// The interval alone, in the unit in which `value` is shown: "32.9 .. 33.5"; "" for NaN.
std::string readable_interval(const stats::Interval& interval, double value, std::string_view unit);
std::string readable(const Cell& cell, const Column& column);
/// "1 rank", "2 ranks".
std::string counted(std::size_t count, const std::string& what);
/// "4 MiB", "1000 B": a message size as a user types it, without a needless fraction.
std::string size_text(double bytes);
/// "83 %", "0.4 %".
std::string percent_text(double percent);

// The writers. Formats for people round numbers and scale units; CSV and JSON have all digits in
// the column's unit.

/// Text for a screen of 80 columns. A wider table is split into blocks of columns, each of which
/// begins with the keys. The column `note` has the numbers of caveats, which are listed below the
/// table, before the notes.
std::string text_of(const Frame& frame);
/// CSV by RFC 4180 with one header line. An interval adds the columns NAME_low and NAME_high; the
/// column `marks` has the sentences of caveats. Texts in a column of numbers are left empty. A text
/// that a spreadsheet would take for a formula begins with an apostrophe.
std::string csv_of(const Frame& frame);
/// One line of JSON: NaN and infinities become null, bytes that are not UTF-8 become U+FFFD.
std::string json_line(const nlohmann::ordered_json& json);
/// One object per row with the columns' names as keys; an interval adds NAME_low and NAME_high.
nlohmann::ordered_json json_rows(const Frame& frame);
/// GitHub's Markdown.
std::string markdown_of(const Frame& frame);
/// Escapes a text for a cell or a line of Markdown.
std::string markdown_text(const std::string& text);
/// A LaTeX table environment with booktabs; \ref{tab:LABEL} refers to it.
std::string latex_of(const Frame& frame, std::string label);
std::string latex_text(std::string_view text);
/// A <table> whose <data> elements have all digits, followed by caveats and notes.
std::string html_of(const Frame& frame);
/// Makes a text safe in an element and in a quoted attribute: replaces markup, control characters,
/// broken UTF-8 and characters that change the direction of writing.
std::string html_escape(std::string_view text);

}  // namespace ranklab::report
