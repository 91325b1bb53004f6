// Text: words and lists in sentences, shell quoting, and untrusted text made safe to show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ranklab::base {

/// "did you mean --steps?" (with `before` "--"). Offers the candidate with the smallest edit
/// distance, ignoring case, if that is at most 2 or a third of the shorter word's letters (at most
/// half of them if it has up to three); otherwise the candidates with a part that begins with
/// `word` ("hdf5-serial" for "hdf5"), if they are few. "" if none is similar.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view before = "");
/// did_you_mean in brackets, for the end of a sentence: " (did you mean flat?)".
std::string or_did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::vector<std::string> split(std::string_view text, char separator);
std::string trim(std::string_view text);

/// Untrusted text for a sentence: bytes that are not printable ASCII become '?'; a text cut at
/// `most` bytes ends in "...".
std::string printable(std::string_view text, std::size_t most);

/// "a b 'c d'": the arguments, quoted for a shell.
std::string shell_quote(const std::vector<std::string>& arguments);
/// A path as one quoted shell argument, with "./" in front if it begins with '-'.
std::string shell_path(const std::string& path);

/// "[3, 64, 64]".
std::string shape_text(std::span<const std::int64_t> shape);

/// "0-3,8" for {0,1,2,3,8}, as in Linux's CPU lists. `ids` must ascend.
std::string compact_ranges(const std::vector<int>& ids);

/// Parses "0-3,8"; nullopt if malformed, or above 65535.
std::optional<std::set<std::size_t>> numbers_in(const std::string& text);
/// Ascending numbers for a sentence: "0-3,8"; with more than `most` ranges, the first ones and the
/// count of numbers: "0,8,16,... (128 in all)". For stored text use compact_ranges, which has all
/// numbers.
std::string few_ranges(const std::vector<int>& numbers, std::size_t most = 6);

/// "1.3 GiB", "4 min 12 s": for the screen; machine output never scales units.
std::string human_bytes(double bytes);
std::string human_duration(double seconds);

/// 64-bit FNV-1a hash: equal on all machines and in all versions; not cryptographic.
std::uint64_t fingerprint(std::string_view text);

/// UTC as "20261121T101500Z" (compact) or "2026-11-21T10:15:00Z".
std::string utc_compact(std::int64_t unix_seconds);
std::string utc_iso(std::int64_t unix_seconds);

/// Makes a text one line that cannot control the terminal or browser: control characters (C0, C1,
/// DEL), direction marks and line separators become blanks, except the ASCII characters `kept`;
/// each byte outside well-formed UTF-8 becomes U+FFFD.
std::string one_line(std::string_view text, std::string_view kept = "");

}  // namespace ranklab::base
