#include "base/one_line.hpp"

#include "base/utf8.hpp"

namespace ranklab::base {

std::string one_line(std::string_view text) {
    std::string line;
    while (!text.empty()) {
        const Letter letter = first_letter(text);
        line += letter.good && steers(letter.code) ? " " : letter.shown(text);
        text.remove_prefix(letter.bytes);
    }
    return line;
}

}  // namespace ranklab::base
