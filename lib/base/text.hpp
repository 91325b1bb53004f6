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

/// The candidate with the smallest edit distance to `word`, ignoring case. nullopt if the distance
/// is above 2 and above a third of the shorter word's letters (for up to three letters: above half
/// of them).
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

/// "did you mean --steps?" (with `before` "--"). Offers the nearest candidate, else the few in
/// which a part begins with `word` ("hdf5-serial" for "hdf5"). "" if none is similar.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view before = "");
/// did_you_mean in brackets, for the end of a sentence: " (did you mean flat?)".
std::string or_did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::vector<std::string> split(std::string_view text, char separator);
std::string trim(std::string_view text);

/// Foreign text for a sentence: bytes that are not printable ASCII become '?'; a text cut at `most`
/// bytes ends in "...".
std::string printable(std::string_view text, std::size_t most);

/// "a b 'c d'": the arguments, quoted for a shell.
std::string shell_quote(const std::vector<std::string>& arguments);
/// A path as one quoted shell argument, with "./" in front if it begins with '-'.
std::string shell_path(const std::string& path);

/// "[3, 64, 64]".
std::string shape_text(std::span<const std::int64_t> shape);

/// "0-3,8" for {0,1,2,3,8}, as in the kernel's CPU lists. `ids` must ascend.
std::string compact_ranges(const std::vector<int>& ids);

/// "1.3 GiB", "4 min 12 s": for the screen; machine output never scales units.
std::string human_bytes(double bytes);
std::string human_duration(double seconds);

/// 64-bit FNV-1a hash: equal on all machines and in all versions; not cryptographic.
std::uint64_t fingerprint(std::string_view text);

/// UTC as "20261121T101500Z" (compact) or "2026-11-21T10:15:00Z".
std::string utc_compact(std::int64_t unix_seconds);
std::string utc_iso(std::int64_t unix_seconds);

/// U+FFFD, shown for a byte that is not UTF-8.
inline constexpr std::string_view kReplacementLetter = "\xEF\xBF\xBD";

/// One code point of UTF-8, or one byte that is not part of a well-formed one (Unicode, table 3-7:
/// no overlong form, surrogate, code point above U+10FFFF or cut sequence).
struct Letter {
    char32_t code = 0;
    std::size_t bytes = 1;
    bool good = false;  ///< well-formed

    /// The letter's bytes at the beginning of `text`; kReplacementLetter if not well-formed.
    std::string_view shown(std::string_view text) const {
        return good ? text.substr(0, bytes) : kReplacementLetter;
    }
};
/// The first letter of `text`, which must not be empty.
Letter first_letter(std::string_view text);

/// Whether a terminal or browser acts on the code point instead of showing it: control characters
/// (C0, C1, DEL), direction marks, line separators.
bool steers(char32_t code);

/// Replaces each byte outside well-formed UTF-8 by U+FFFD.
std::string valid_utf8(std::string_view text);
/// Makes a text one line that cannot control the terminal: characters that steer (steers()) become
/// blanks, bytes outside UTF-8 become U+FFFD.
std::string one_line(std::string_view text);

}  // namespace ranklab::base
