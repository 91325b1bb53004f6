// Reads the tables in names/. tables.txt has the columns of the tables that runs store beside their
// measurements, by name and type; docs/names.md says what each column means.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "options/schema.hpp"

namespace ranklab::vocabulary {

/// An entry of a table in names/: a line of words, and indented lines of text below it.
struct Entry {
    std::vector<std::string> words;
    std::string text;  ///< the lines joined by blanks
};
/// Lines that begin with # are comments.
std::vector<Entry> entries_of(std::string_view file);
/// The words between blanks, within `text`.
std::vector<std::string_view> words_of(std::string_view text);
/// words.size() if the word is none of them.
inline std::size_t place_of(std::string_view word, std::span<const std::string_view> words) {
    return static_cast<std::size_t>(std::ranges::find(words, word) - words.begin());
}
/// Throws Error if the word is none of them: a typing error in a table.
inline std::size_t known_place(std::string_view word, std::span<const std::string_view> words) {
    const std::size_t place = place_of(word, words);
    if (place == words.size())
        throw base::Error("internal: '" + std::string(word) + "' is no word of its table");
    return place;
}

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

/// Adds to the rows the relations between options that names/relations.txt has for this program.
/// Throws Error for an unknown option, or a line that is no relation.
void relate(options::Schema& rows, const std::string& program);

/// The first lines of a CSV of gradient buckets, which `ranklab train --buckets` writes and
/// `ranklab comm --from-model` reads.
inline constexpr std::string_view kBucketTitle =
    "# ranklab: the gradient buckets that a training step reduces, in their order";
inline constexpr std::string_view kBucketHeader = "bucket,parameters,elements,dtype,bytes";

}  // namespace ranklab::vocabulary
