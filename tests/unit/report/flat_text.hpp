// A text that is compared word by word.
#pragma once

#include <sstream>
#include <string>

namespace ranklab::report {

/// With one blank between words, so that line breaks do not matter.
inline std::string flat(const std::string& text) {
    std::istringstream words(text);
    std::string all;
    for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
    return all;
}

}  // namespace ranklab::report
