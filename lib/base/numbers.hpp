// Numbers: conversions, numbers in text, and the ranks' shares of a sequence.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace ranklab::base {

/// A count as double, exact up to 2^53, far above any count here.
template <std::integral Count>
constexpr double real(Count count) {
    return static_cast<double>(count);
}

/// std::to_underlying of C++23: turns an enum into a table index or an exit code.
template <class Enum>
requires std::is_enum_v<Enum>
constexpr auto number_of(Enum one) {
    return static_cast<std::underlying_type_t<Enum>>(one);
}

/// Parses the whole text by from_chars ("0.5", "1e-3", "inf"); nullopt if anything else is in it.
template <class Number = double>
std::optional<Number> number_in(std::string_view text) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && rest == end ? std::optional(value) : std::nullopt;
}

/// 2.5 for "2.5%" and "2.5 %"; nullopt without the percent sign.
inline std::optional<double> percentage_in(std::string_view text) {
    if (!text.ends_with('%')) return std::nullopt;
    text.remove_suffix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return number_in(text);
}

/// A rank's contiguous part of a sequence; lengths differ by at most one.
struct Share {
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t end() const { return first + count; }
};

/// The part of rank `rank`. The first `total % ranks` parts are one longer; if `total` < `ranks`,
/// the last parts are empty.
inline Share share_of(std::int64_t total, int rank, int ranks) {
    const std::int64_t each = total / ranks;
    const std::int64_t longer = total % ranks;
    const std::int64_t r = rank;
    return {r * each + (r < longer ? r : longer), each + (r < longer ? 1 : 0)};
}

}  // namespace ranklab::base
