#include "results/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "stats/summary.hpp"
#include "vocabulary/tables.hpp"

namespace ranklab::results {

const Column* Table::column(std::string_view column_name) const {
    const auto found = std::ranges::find(columns, column_name, &Column::name);
    return found == columns.end() ? nullptr : &*found;
}

namespace {

Column empty_column(const vocabulary::Column& column) {
    Column made{std::string(column.name), std::vector<double>()};
    if (column.type == vocabulary::ColumnType::whole) made.values = std::vector<std::int64_t>();
    if (column.type == vocabulary::ColumnType::text) made.values = std::vector<std::string>();
    return made;
}

}  // namespace

Rows::Rows(std::string_view table) {
    const auto* schema = vocabulary::find_table(table);
    if (schema == nullptr)
        throw base::Error(fmt::format("internal: no table is called '{}'", table));
    table_.name = schema->name;
    for (const auto& column : schema->columns) table_.columns.push_back(empty_column(column));
}

void Rows::add(std::initializer_list<Value> row) {
    if (row.size() != table_.columns.size())
        throw base::Error(fmt::format("internal: a row of {} values for the {} columns of table {}",
                                      row.size(), table_.columns.size(), table_.name));
    auto column = table_.columns.begin();
    for (const Value& value : row) {
        std::visit(
            [&]<class T>(const T& one) {
                auto* values = std::get_if<std::vector<T>>(&column->values);
                if (values == nullptr)
                    throw base::Error(
                        fmt::format("internal: a value of another type in column {} of table {}",
                                    column->name, table_.name));
                values->push_back(one);
            },
            value);
        ++column;
    }
    ++rows_;
}

double StoredRow::number(std::string_view column) const {
    if (const auto* doubles = table->find<double>(column)) return (*doubles)[row];
    const auto* ints = table->find<std::int64_t>(column);
    return ints == nullptr ? stats::kNone : static_cast<double>((*ints)[row]);
}

std::string StoredRow::text(std::string_view column) const {
    if (const auto* texts = table->find<std::string>(column)) return (*texts)[row];
    if (const auto* ints = table->find<std::int64_t>(column))
        return fmt::format("{}", (*ints)[row]);
    return table->column(column) == nullptr ? "" : fmt::format("{:.4g}", number(column));
}

std::vector<StoredRow> rows_of(const Table& table) {
    std::size_t rows = table.columns.empty() ? 0 : std::numeric_limits<std::size_t>::max();
    for (const auto& column : table.columns)
        rows = std::min(rows, std::visit([](const auto& v) { return v.size(); }, column.values));
    std::vector<StoredRow> all;
    for (std::size_t row = 0; row < rows; ++row) all.push_back({&table, row});
    return all;
}

}  // namespace ranklab::results
