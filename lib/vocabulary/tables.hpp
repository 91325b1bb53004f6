// The tables that runs store besides their measurements: columns with their types and meanings.
#pragma once

#include <span>
#include <string_view>

namespace ranklab::vocabulary {

enum class ColumnType { number, whole, text };

struct Column {
    std::string_view name;  ///< with its unit, if it has one
    ColumnType type;
    std::string_view meaning;
};

struct TableSchema {
    std::string_view name;
    std::string_view row;  ///< the meaning of a row: "a rank"
    std::span<const Column> columns;
};

std::span<const TableSchema> tables();
/// nullptr if there is no such table.
const TableSchema* find_table(std::string_view name);

/// First line and column heads of a table of gradient buckets (CSV), which `ranklab train
/// --buckets` writes and `ranklab comm --from-model` reads.
inline constexpr std::string_view kBucketTitle =
    "# ranklab: the gradient buckets that a training step reduces, in their order";
inline constexpr std::string_view kBucketHeader = "bucket,parameters,elements,dtype,bytes";

}  // namespace ranklab::vocabulary
