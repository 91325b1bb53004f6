// Entries of the tables in names/: a line of words, and indented lines of text below it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ranklab::vocabulary {

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

}  // namespace ranklab::vocabulary
