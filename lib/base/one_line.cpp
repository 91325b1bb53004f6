#include "base/one_line.hpp"

#include "base/text.hpp"

namespace ranklab::base {
namespace {

// Of well-formed UTF-8.
std::size_t bytes_of(char first) {
    const auto byte = static_cast<unsigned char>(first);
    return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// Whether a terminal does something at this letter instead of showing it.
bool steers(std::string_view letter) {
    const auto first = static_cast<unsigned char>(letter.front());
    if (letter.size() == 1) return first < 0x20 || first == 0x7F;
    if (letter.size() == 2) return letter < "\xC2\xA0";  // C1: U+0080 to U+009F
    const auto within = [&](std::string_view low, std::string_view high) {
        return letter.size() == 3 && letter >= low && letter <= high;
    };
    return within("\xE2\x80\x8E", "\xE2\x80\x8F") ||  // U+200E, U+200F
           within("\xE2\x80\xA8", "\xE2\x80\xAE") ||  // U+2028 to U+202E
           within("\xE2\x81\xA6", "\xE2\x81\xA9");    // U+2066 to U+2069
}

}  // namespace

std::string one_line(std::string_view text) {
    const std::string valid = valid_utf8(text);
    std::string line;
    for (std::size_t at = 0; at < valid.size();) {
        const std::string_view letter = std::string_view(valid).substr(at, bytes_of(valid[at]));
        line += steers(letter) ? " " : letter;
        at += letter.size();
    }
    return line;
}

}  // namespace ranklab::base
