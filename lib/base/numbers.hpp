// Numbers: conversions that say what they are for, numbers in text, and shares of ranks.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace ranklab::base {

/// A count as a real number: exact up to 2^53, far above what is counted here. Types that differ
/// only in sign (an index, a length) need no conversion, and a cast would check nothing
/// (-Wconversion, lib/cmake/RanklabSettings.cmake).
template <std::integral Count>
constexpr double real(Count count) {
    return static_cast<double>(count);
}

/// The number of an enumerator: a place in a table, an exit code.
template <class Enum>
requires std::is_enum_v<Enum>
constexpr auto number_of(Enum one) {
    return static_cast<std::underlying_type_t<Enum>>(one);
}

/// Reads the whole text as a number in from_chars' form ("0.5", "1e-3", "inf"); nullopt for
/// anything else.
template <class Number = double>
std::optional<Number> number_in(std::string_view text) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && rest == end ? std::optional(value) : std::nullopt;
}

/// 2.5 of "2.5%" and "2.5 %"; none without the sign.
inline std::optional<double> percentage_in(std::string_view text) {
    if (!text.ends_with('%')) return std::nullopt;
    text.remove_suffix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return number_in(text);
}

/// A rank's part of a sequence: parts are contiguous, and their lengths differ by one at most.
struct Share {
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t end() const { return first + count; }
};

/// The part of rank `rank`; the first `total % ranks` parts are one longer. Empty where there are
/// more ranks.
inline Share share_of(std::int64_t total, int rank, int ranks) {
    const std::int64_t each = total / ranks;
    const std::int64_t longer = total % ranks;
    const std::int64_t r = rank;
    return {r * each + (r < longer ? r : longer), each + (r < longer ? 1 : 0)};
}

using NumberRanges = std::vector<std::pair<std::size_t, std::size_t>>;  ///< first and last of each

/// "0-3,8"; nothing where it is none.
std::optional<NumberRanges> ranges_in(const std::string& text);
/// Ascending numbers for a sentence: "0-3,8"; with more than `most` ranges the first ones and the
/// count of numbers: "0,8,16,... (128 in all)". Stored text has all of them (compact_ranges).
std::string few_ranges(const std::vector<int>& numbers, std::size_t most = 6);
/// Each number once, whatever overlaps.
std::size_t count_of(NumberRanges ranges);
/// The sets, by their places, that share a number, directly or through others: each place once.
std::vector<std::vector<std::size_t>> connected(const std::vector<NumberRanges>& sets);

}  // namespace ranklab::base
