#include "vocabulary/tables.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.hpp"
#include "vocabulary/templates.hpp"

namespace ranklab::vocabulary {
namespace {

constexpr std::array<std::string_view, 3> kTypes{"", ":whole", ":text"};  // in ColumnType's order

// "n:whole"
Column column_of(std::string_view word) {
    const auto name = word.substr(0, word.find(':')), type = word.substr(name.size());
    return {name, ColumnType(known_place(type, kTypes))};
}

// A side of a relation: "jit,trace", "mode=single,dp", "sync@shards".
struct Side {
    std::vector<std::string> names, values;
    std::string property;
};
Side side_of(const std::string& word) {
    const std::size_t mark = std::min(word.find_first_of("=@"), word.size());
    Side side{base::split(word.substr(0, mark), ','), {}, ""};
    if (word[mark] == '=') side.values = base::split(word.substr(mark + 1), ',');
    if (word[mark] == '@') side.property = word.substr(mark + 1);
    return side;
}

// "zero needs mode=ddp: only ddp's ranks share a training state"
void add_relations(options::Schema& rows, const std::string& line) {
    const std::size_t colon = std::min(line.find(": "), line.size());
    const auto words = base::split(line.substr(0, colon), ' ');
    const bool needs = words.at(1) == "needs";
    if (words.size() != 3 || (!needs && words[1] != "excludes"))
        throw base::Error("internal: '" + line + "' is no relation");
    const Side own = side_of(words[0]), other = side_of(words[2]);
    for (const auto& name : own.names)
        for (const auto& other_name : other.names) {
            auto& option = const_cast<options::Option&>(rows.at(name));
            (needs ? option.needs : option.excludes)
                .push_back({.other = other_name,
                            .values = other.values,
                            .because = colon < line.size() ? line.substr(colon + 2) : "",
                            .own = own.values,
                            .property = other.property,
                            .own_property = own.property});
        }
}

}  // namespace

void relate(options::Schema& rows, const std::string& program) {
    for (const auto& line : base::split(std::string(template_text("relations.txt")), '\n'))
        if (line.starts_with(program + " ")) add_relations(rows, line.substr(program.size() + 1));
}

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
