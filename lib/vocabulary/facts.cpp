#include "vocabulary/facts.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "vocabulary/tables.hpp"
#include "vocabulary/templates.hpp"

namespace ranklab::vocabulary {
namespace {

// In the order of FactRole.
constexpr std::array<std::string_view, 4> kRoles{"surroundings", "work", "noted", "outcome"};

// In the order of FactWord.
constexpr std::array<std::string_view, 10> kWords{"",      "yes",    "no",      "cold", "warm",
                                                  "mixed", "memory", "unknown", "host", "device"};

}  // namespace

std::span<const Fact> facts() {
    static const auto entries = entries_of(template_text("facts.txt"));
    static const auto all = [] {
        std::vector<Fact> made;
        for (const auto& [words, names] : entries)
            for (const auto name : words_of(names))
                made.push_back(
                    {name, FactRole(known_place(words.front(), kRoles)), words.size() > 1});
        return made;
    }();
    return all;
}

std::string_view text_of(FactWord word) {
    return kWords.at(static_cast<std::size_t>(word));
}

FactWord word_in(std::string_view value) {
    const auto first = value.substr(0, value.find(' '));
    const auto same = [](char a, char b) {  // versions up to 0.2.0 stored "NO (...)"
        return a == std::tolower(static_cast<unsigned char>(b));
    };
    const auto found = std::ranges::find_if(
        kWords, [&](std::string_view word) { return std::ranges::equal(word, first, same); });
    return found == kWords.end() ? FactWord::none : FactWord(found - kWords.begin());
}

bool fits(std::string_view key, std::string_view pattern) {
    if (pattern.ends_with('*')) return key.starts_with(pattern.substr(0, pattern.size() - 1));
    return key == pattern;
}

const Fact* find_fact(std::string_view name) {
    thread_local std::map<std::string, const Fact*, std::less<>> found;
    if (const auto known = found.find(name); known != found.end()) return known->second;
    const Fact*& best = found[std::string(name)];
    for (const Fact& fact : facts()) {
        if (fact.name == name) return best = &fact;
        if (fits(name, fact.name) && (best == nullptr || fact.name.size() > best->name.size()))
            best = &fact;
    }
    return best;
}

FactRole role_of_fact(std::string_view name) {
    const Fact* fact = find_fact(name);
    return fact == nullptr ? FactRole::noted : fact->role;
}

std::string fact_of_older_run(std::string_view name,
                              const std::function<std::string(std::string_view)>& setting) {
    static const auto rows = entries_of(template_text("older_facts.txt"));
    for (const auto& row : rows) {
        if (row.words.at(0) != name) continue;
        const std::string option = setting(row.words.at(1)), &value = row.words.at(3);
        if (option.empty() || !fits(option, row.words.at(2))) continue;
        return value.starts_with('=') ? setting(value.substr(1)) : value;
    }
    return "";
}

}  // namespace ranklab::vocabulary
