// Foreign text, letter by letter, and made safe to show.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ranklab::base {

/// What stands in the place of a byte that is no part of UTF-8: U+FFFD.
inline constexpr std::string_view kReplacementLetter = "\xEF\xBF\xBD";

/// One letter (code point) of UTF-8, or one byte that is no part of a well-formed one (Unicode, table 3-7: no
/// overlong forms, no surrogates, nothing above U+10FFFF, nothing cut off).
struct Letter {
    char32_t code = 0;
    std::size_t bytes = 1;
    bool good = false;

    /// Its bytes in the text that it was read from, or the replacement.
    std::string_view shown(std::string_view text) const {
        return good ? text.substr(0, bytes) : kReplacementLetter;
    }
};
/// The letter that the text begins with; the text is not empty.
Letter first_letter(std::string_view text);

/// Whether a terminal or a browser does something at it in place of showing it: control characters (C0, C1,
/// DEL), marks of direction, separators of lines.
bool steers(char32_t code);

/// Each byte that is no part of well-formed UTF-8 becomes U+FFFD.
std::string valid_utf8(std::string_view text);
/// One line that cannot steer the terminal or turn the line around: its letters stay, one that steers becomes
/// a blank, a byte that is no part of UTF-8 U+FFFD.
std::string one_line(std::string_view text);

}  // namespace ranklab::base
