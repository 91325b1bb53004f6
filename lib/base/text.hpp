// Text: words and lists in sentences, shell quoting, and foreign text made safe to show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ranklab::base {

/// The candidate with the smallest edit distance to `word`, capital letters or not, if it is near
/// enough to be a typing error (distance at most a third of the shorter one, at least 2; 1 for
/// three letters).
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

/// "did you mean --steps?" with `before` "--", "did you mean hdf5-serial or hdf5-parallel?", ""
/// where none is similar. It offers the nearest candidate, else the few of which a part begins with
/// `word`.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view before = "");
/// did_you_mean in brackets, behind a sentence: " (did you mean flat?)".
std::string or_did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::vector<std::string> split(std::string_view text, char separator);
std::string trim(std::string_view text);

/// Foreign text for a sentence: characters other than printable ASCII become '?', and after `most`
/// of them it ends in "...".
std::string printable(std::string_view text, std::size_t most);

/// "a b 'c d'": the arguments as a shell would need them.
std::string shell_quote(const std::vector<std::string>& arguments);
/// A path as one argument of a shell: behind "./" where it would be taken for an option.
std::string shell_path(const std::string& path);

/// "[3, 64, 64]".
std::string shape_text(std::span<const std::int64_t> shape);

/// "0-3,8" for {0,1,2,3,8}; the way the kernel writes cpu lists. `ids` ascending.
std::string compact_ranges(const std::vector<int>& ids);

/// For a person's eye only (machine output never scales units): "1.3 GiB", "4 min 12 s".
std::string human_bytes(double bytes);
std::string human_duration(double seconds);

/// A number for a text, the same everywhere and always (FNV-1a, 64 bits); not against forgery.
std::uint64_t fingerprint(std::string_view text);

/// UTC as "20261121T101500Z" (compact) or "2026-11-21T10:15:00Z".
std::string utc_compact(std::int64_t unix_seconds);
std::string utc_iso(std::int64_t unix_seconds);

/// U+FFFD, which replaces a byte that is not UTF-8.
inline constexpr std::string_view kReplacementLetter = "\xEF\xBF\xBD";

/// One letter (code point) of UTF-8, or one byte outside a well-formed one (Unicode, table 3-7: no
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

/// Whether a terminal or a browser acts on it instead of showing it: control characters (C0, C1,
/// DEL), marks of direction, line separators.
bool steers(char32_t code);

/// Each byte outside well-formed UTF-8 becomes U+FFFD.
std::string valid_utf8(std::string_view text);
/// Makes a text one line that cannot control the terminal: steering characters become blanks, and
/// bytes that are not UTF-8 become U+FFFD.
std::string one_line(std::string_view text);

}  // namespace ranklab::base
