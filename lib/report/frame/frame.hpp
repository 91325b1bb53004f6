// The one table of a report: lists, groups, ladders, messages, phases, ranks. Whoever has rows makes a Frame,
// and every writer takes one.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/frame/sentences.hpp"
#include "results/vocabulary/measurements.hpp"
#include "stats/summary.hpp"

namespace ranklab::report {

/// Things told apart by a key, in the order in which they were met.
template <class Key, class Thing>
class InOrderMet {
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

    bool is_number() const { return number == number; }
    bool empty() const { return text.empty() && !is_number(); }
};

struct Column {
    std::string name;       ///< as machine formats have it, with its unit: "step_time_s"
    std::string unit = {};  ///< of the cells: "s", "B", "MiB/s", "1" for a ratio; "" for texts and counts
    bool key = false;       ///< it says which row it is
    bool interval = false;  ///< its cells may have one
    std::string head = {};  ///< for people; "": the name

    const std::string& title() const { return head.empty() ? name : head; }
};

struct Row {
    std::vector<Cell> cells = {};  ///< may be fewer than there are columns: the others are empty
    std::vector<Doubt> doubts = {};
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
    /// The column of that name, added where there is none yet.
    std::size_t add_column(Column column);
    /// Puts it into the last row.
    void put(std::size_t column, Cell cell);

    Frame select(const std::function<bool(const Row&)>& where) const;
    /// Rows with equal cells in these columns: the cells' texts, and the rows' numbers.
    std::vector<std::pair<std::vector<std::string>, std::vector<std::size_t>>> group_by(
        const std::vector<std::size_t>& keys) const;
    /// By the columns' cells, numbers in their order and before texts.
    void sort(const std::vector<std::size_t>& keys);
    /// Without columns in which all cells are empty, but for keys.
    void drop_empty_columns();
};

/// A column's name by its ending: "step_time_s" is {"step time", "s"}; without a unit "".
struct NamedUnit {
    std::string name, unit;
};
NamedUnit named_unit(std::string_view column);
/// "step time" of "step_time_s": for people, who read the unit at the numbers.
std::string without_unit(std::string_view name);
/// Numbers by their values, and before texts.
bool in_order(const std::string& a, const std::string& b);
/// A number that reads back to the same double; "" for none.
std::string exact(double number);
/// The text, or the number with all its digits.
std::string exact(const Cell& cell);

}  // namespace ranklab::report
