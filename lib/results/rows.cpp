#include "results/rows.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace ranklab::results {
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
    if (schema == nullptr) throw base::Error(fmt::format("internal: no table is called '{}'", table));
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

}  // namespace ranklab::results
