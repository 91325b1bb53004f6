// The tables that runs store beside their measurements: names and types, from names/tables.txt.
// docs/names.md says what each column means.
#pragma once

#include <string_view>
#include <vector>

namespace ranklab::vocabulary {

enum class ColumnType { number, whole, text };

struct Column {
    std::string_view name;  ///< ends in its unit, if there is one
    ColumnType type;
};

struct TableSchema {
    std::string_view name;
    std::vector<Column> columns;
};

const std::vector<TableSchema>& tables();
/// Returns nullptr for an unknown name.
const TableSchema* find_table(std::string_view name);

/// The first lines of a CSV of gradient buckets, which `ranklab train --buckets` writes and
/// `ranklab comm --from-model` reads.
inline constexpr std::string_view kBucketTitle =
    "# ranklab: the gradient buckets that a training step reduces, in their order";
inline constexpr std::string_view kBucketHeader = "bucket,parameters,elements,dtype,bytes";

}  // namespace ranklab::vocabulary
