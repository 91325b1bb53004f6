// Entries of the tables in names/: a line of words, and indented lines of text below it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace ranklab::vocabulary
