// A table of a run: written row by row as the vocabulary names its columns, read row by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hdf5/array.hpp"

namespace ranklab::results {

using Column = hdf5::Column;  ///< the name ends in the unit, if there is one

/// All columns have equal length.
struct Table {
    std::string name;
    std::vector<Column> columns;

    /// Returns nullptr if there is no such column.
    const Column* column(std::string_view column_name) const;
    /// The column's values; nullptr if there is no such column, or it has a different type.
    template <class T>
    const std::vector<T>* find(std::string_view column_name) const {
        const Column* const one = column(column_name);
        return one == nullptr ? nullptr : std::get_if<std::vector<T>>(&one->values);
    }
};

/// Builds a table of vocabulary/tables.hpp row by row. Throws Error for a name, number or type of
/// values that the vocabulary does not have: a bug.
class Rows {
  public:
    using Value = std::variant<double, std::int64_t, std::string>;

    explicit Rows(std::string_view table);

    void add(std::initializer_list<Value> row);

    std::size_t size() const { return rows_; }
    /// With all columns, even without rows.
    Table table() && { return std::move(table_); }

  private:
    Table table_;
    std::size_t rows_ = 0;
};

/// A row of a stored table, which must outlive it.
struct StoredRow {
    const Table* table = nullptr;
    std::size_t row = 0;

    /// NaN if there is no such column or number.
    double number(std::string_view column) const;
    /// "" if there is no such column.
    std::string text(std::string_view column) const;
};

std::vector<StoredRow> rows_of(const Table& table);

}  // namespace ranklab::results
