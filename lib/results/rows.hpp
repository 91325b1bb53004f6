// A table of the vocabulary, filled row by row.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "results/run.hpp"
#include "results/vocabulary/tables.hpp"

namespace ranklab::results {

class Rows {
  public:
    using Value = std::variant<double, std::int64_t, std::string>;

    /// Of the table of that name (vocabulary/tables.hpp). Throws Error where there is none.
    explicit Rows(std::string_view table);

    /// A value for each column, in their order and of their types. Throws Error for anything else: a bug.
    void add(std::initializer_list<Value> row);

    std::size_t size() const { return rows_; }
    /// With all its columns, also where it has no row.
    Table table() && { return std::move(table_); }

  private:
    Table table_;
    std::size_t rows_ = 0;
};

}  // namespace ranklab::results
