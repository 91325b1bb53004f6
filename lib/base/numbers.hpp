// Numbers that people and files write as text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/text.hpp"

namespace ranklab::base {

/// The number that the whole text is, in from_chars' form ("0.5", "1e-3", "inf"); none where it is no number
/// or has anything around it.
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
    return number_in(trim(text));
}

}  // namespace ranklab::base
