// The tables that runs store besides their measurements: columns with their types and meanings.
#pragma once

#include <span>
#include <string_view>

namespace ranklab::vocabulary {

enum class ColumnType { number, whole, text };

struct Column {
    std::string_view name;  ///< with its unit where it has one
    ColumnType type;
    std::string_view meaning;
};

struct TableSchema {
    std::string_view name;
    std::string_view row;  ///< what a row is
    std::span<const Column> columns;
};

std::span<const TableSchema> tables();
/// Returns nullptr where there is none of that name.
const TableSchema* find_table(std::string_view name);

/// The lines that mark a CSV as a table of gradient buckets: `ranklab train --buckets` writes it,
/// `ranklab comm --from-model` reads it.
inline constexpr std::string_view kBucketTitle =
    "# ranklab: the gradient buckets that a training step reduces, in their order";
inline constexpr std::string_view kBucketHeader = "bucket,parameters,elements,dtype,bytes";

}  // namespace ranklab::vocabulary
