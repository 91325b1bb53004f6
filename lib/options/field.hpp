// Converts between an option's text and the member of a program's struct.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace ranklab::options {

/// The bytes of "4096", "64K", "1MiB" or "10MB"; nullopt if `text` is not a size or does not fit
/// in 64 bits.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// Writes `bytes` with the largest of T, G, M, K that divides them: "64K", "1000".
std::string bytes_text(std::uint64_t bytes);

/// ASCII's unit separator, between the values of an option that was given several times.
inline constexpr char kBetweenTexts = '\x1f';

template <class Value>
inline constexpr bool kIsOptional = requires(Value value) {
    value.has_value();
};

/// Converts a text that the schema has checked.
template <class Value>
Value value_of(const std::string& text) {
    if constexpr (kIsOptional<Value>)
        return value_of<typename Value::value_type>(text);
    else if constexpr (std::is_same_v<Value, std::string>)
        return text;
    else if constexpr (std::is_same_v<Value, std::vector<std::string>>)
        return base::split(text, kBetweenTexts);
    else if constexpr (std::is_same_v<Value, bool>)
        return text == "true";
    else if constexpr (std::is_same_v<Value, std::uint64_t>)
        return parse_bytes(text).value();
    else if constexpr (std::is_floating_point_v<Value>)
        return base::number_in<double>(text).value();
    else
        return static_cast<Value>(base::number_in<std::int64_t>(text).value());
}

/// Writes equal values equally: 0.10 is "0.1", 65536 bytes are "64K"; nullopt if the optional is
/// empty.
template <class Value>
std::optional<std::string> text_of(const Value& value) {
    if constexpr (kIsOptional<Value>)
        return value ? text_of(*value) : std::nullopt;
    else if constexpr (std::is_same_v<Value, std::vector<std::string>>)
        return base::join(value, std::string(1, kBetweenTexts));
    else if constexpr (std::is_same_v<Value, std::uint64_t>)
        return bytes_text(value);
    else
        return fmt::format("{}", value);
}

/// A struct's member that takes an option's value; `fields` points to a struct of type `owner`.
struct Field {
    const std::type_info* owner = nullptr;  ///< nullptr: bound to no struct
    std::function<void(void* fields, const std::string& text)> assign = {};
    /// Returns nullopt if the member has no value.
    std::function<std::optional<std::string>(const void* fields)> text = {};
};

/// `Value`: std::string, bool, std::int64_t, int, double, std::uint64_t (bytes), or std::optional
/// of one of these if the option may have no value; std::vector<std::string> for Schema::texts.
template <class Struct, class Value>
Field field(Value Struct::*member) {
    return {.owner = &typeid(Struct),
            .assign =
                [member](void* fields, const std::string& text) {
                    static_cast<Struct*>(fields)->*member = value_of<Value>(text);
                },
            .text =
                [member](const void* fields) {
                    return text_of(static_cast<const Struct*>(fields)->*member);
                }};
}

}  // namespace ranklab::options
