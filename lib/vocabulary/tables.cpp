#include "vocabulary/tables.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.hpp"
#include "vocabulary/entries.hpp"
#include "vocabulary/templates.hpp"

namespace ranklab::vocabulary {
namespace {

constexpr std::array<std::string_view, 3> kTypes{"", ":whole", ":text"};  // as ColumnType

// "n:whole"
Column column_of(std::string_view word) {
    const auto name = word.substr(0, word.find(':')), type = word.substr(name.size());
    return {name, ColumnType(known_place(type, kTypes))};
}

}  // namespace

std::vector<Entry> entries_of(std::string_view file) {
    std::vector<Entry> entries;
    for (const auto& line : base::split(std::string(file), '\n')) {
        if (line.empty() || line.front() == '#') continue;
        const std::string words = base::trim(line);
        if (line.front() != ' ')
            entries.push_back({base::split(words, ' '), ""});
        else
            entries.back().text += (entries.back().text.empty() ? "" : " ") + words;
    }
    return entries;
}

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        words.push_back(text.substr(0, text.find(' ')));
        text.remove_prefix(std::min(text.size(), words.back().size() + 1));
    }
    return words;
}

const std::vector<TableSchema>& tables() {
    static const auto entries = entries_of(template_text("tables.txt"));
    static const auto all = [] {
        std::vector<TableSchema> made;
        for (const auto& [words, columns] : entries) {
            made.push_back({words.front(), {}});
            std::ranges::transform(words_of(columns), std::back_inserter(made.back().columns),
                                   column_of);
        }
        return made;
    }();
    return all;
}

const TableSchema* find_table(std::string_view name) {
    const auto found = std::ranges::find(tables(), name, &TableSchema::name);
    return found == tables().end() ? nullptr : &*found;
}

}  // namespace ranklab::vocabulary
