// Entries of the tables in names/: a line of words, and indented lines of text below it.
#pragma once

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

}  // namespace ranklab::vocabulary
