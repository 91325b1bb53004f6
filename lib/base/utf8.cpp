#include "base/utf8.hpp"

namespace ranklab::base {

Letter first_letter(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return {first, 1, true};
    const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || bytes > text.size()) return {};
    char32_t code = first & (0xFFU >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) return {};
        code = (code << 6U) | (byte(i) & 0x3FU);
    }
    constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code < kSmallest[bytes] || code > 0x10FFFF || surrogate) return {};
    return {code, bytes, true};
}

bool steers(char32_t code) {
    const auto within = [code](char32_t low, char32_t high) { return code >= low && code <= high; };
    return code < 0x20 || within(0x7F, 0x9F) || within(0x200E, 0x200F) || within(0x2028, 0x202E) ||
           within(0x2066, 0x2069);
}

std::string valid_utf8(std::string_view text) {
    std::string valid;
    while (!text.empty()) {
        const Letter letter = first_letter(text);
        valid += letter.shown(text);
        text.remove_prefix(letter.bytes);
    }
    return valid;
}

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
