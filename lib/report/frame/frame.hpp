// The table type of reports: lists, groups, ladders, messages, phases and ranks become Frames, and
// every writer takes one.
#pragma once

#include <concepts>
#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
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

/// Things that differ by a key, in the order of their first use.
template <class Key, class Thing>
class InsertionOrderedMap {
  public:
    /// A new one where the key was not met yet.
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
    Cell(std::integral auto count) : number(static_cast<double>(count)) {}

    bool is_number() const { return number == number; }
    bool empty() const { return text.empty() && !is_number(); }
};

struct Column {
    std::string name;  ///< as machine formats have it, with its unit: "step_time_s"
    /// The unit of the cells: "s", "B", "MiB/s", "1" for a ratio; "" for texts and counts.
    std::string unit = {};
    bool key = false;       ///< it says which row it is
    bool interval = false;  ///< its cells may have one
    std::string head = {};  ///< for people; "": the name

    const std::string& title() const { return head.empty() ? name : head; }
};

struct Row {
    std::vector<Cell> cells = {};  ///< may be fewer than there are columns: the others are empty
    std::vector<Caveat> caveats = {};
};

struct Frame {
    std::string title = {};
    std::vector<Column> columns = {};
    std::vector<Row> rows = {};
    std::vector<std::string> notes = {};  ///< sentences below it

    bool empty() const { return rows.empty(); }
    /// Its place; columns.size() where there is none of that name.
    std::size_t find(std::string_view column) const;
    const Cell& at(std::size_t row, std::size_t column) const;
    const Cell& at(std::size_t row, std::string_view column) const { return at(row, find(column)); }
    bool has_numbers(std::size_t column) const;
    bool has_doubts() const;
    /// The column of that name, added where there is none yet.
    std::size_t add_column(Column column);
    /// Puts it into the last row.
    void put(std::size_t column, Cell cell);

    /// Rows with equal cells in these columns: the cells' texts, and the rows' numbers.
    std::vector<std::pair<std::vector<std::string>, std::vector<std::size_t>>> group_by(
        const std::vector<std::size_t>& keys) const;
    /// By the columns' cells, numbers in their order and before texts.
    void sort(const std::vector<std::size_t>& keys);
    /// Without columns in which all cells are empty, but for keys.
    void drop_empty_columns();
};

/// A column's name and unit by its ending: "step_time_s" is {"step time", "s"}; without a unit "".
std::pair<std::string, std::string> named_unit(std::string_view column);
/// "step time" of "step_time_s": for people, who read the unit at the numbers.
std::string without_unit(std::string_view name);
/// Numbers by their values, and before texts.
bool in_order(const std::string& a, const std::string& b);
/// A number that reads back to the same double; "" for none.
std::string exact(double number);
/// The text, or the number with all its digits.
std::string exact(const Cell& cell);

// The writers. Those for people show numbers in the units that people read; those for programs
// (csv, json) all digits in base units.

/// A table for a screen of 80 columns, keys flush left; a wider table is split into blocks of
/// columns, each after the keys. A column `note` refers to the rows' caveats below the table, and
/// notes follow these.
std::string text_of(const Frame& frame);
/// CSV by RFC 4180: one header, then the rows; an interval takes two more columns, NAME_low and
/// NAME_high; the column `marks` has the caveats' sentences. A column with numbers has no words. A
/// text that a spreadsheet would take for a formula gets an apostrophe before it.
std::string csv_of(const Frame& frame);
std::string csv_cell(const std::string& text);
/// One line that every JSON reader accepts: NaN and infinities become null, bytes that are not
/// UTF-8 U+FFFD.
std::string json_line(const nlohmann::ordered_json& json);
/// An object a row, by the columns' names; an interval takes two more, NAME_low and NAME_high.
nlohmann::ordered_json json_rows(const Frame& frame);
/// GitHub's.
std::string markdown_of(const Frame& frame);
/// Fit for a cell or a line of it.
std::string markdown_text(const std::string& text);
/// A table environment with booktabs; `label` is that of \ref.
std::string latex_of(const Frame& frame, const std::string& label);
std::string latex_text(std::string_view text);
/// A <table>; each number has all its digits as data-value. Doubts and notes stand below it.
std::string html_of(const Frame& frame);
/// Makes a text safe in an element and in a quoted attribute: replaces markup, control characters,
/// broken UTF-8 and marks that turn the direction of writing.
std::string html_escape(std::string_view text);

}  // namespace ranklab::report
