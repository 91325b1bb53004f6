// How the value of an option comes into the field of a program's struct, and back.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "base/numbers.hpp"
#include "options/byte_size.hpp"

namespace ranklab::options {

/// Converts texts that the schema has checked.
template <class Value>
Value field_of(const std::string& text) {
    if constexpr (std::is_same_v<Value, std::string>)
        return text;
    else if constexpr (std::is_same_v<Value, bool>)
        return text == "true";
    else if constexpr (std::is_same_v<Value, std::uint64_t>)
        return parse_bytes(text).value();
    else if constexpr (std::is_floating_point_v<Value>)
        return base::number_in<double>(text).value();
    else
        return static_cast<Value>(base::number_in<std::int64_t>(text).value());
}

template <class Value>
struct Plain {
    using type = Value;
    static std::optional<Value> get(const Value& value) { return value; }
};
template <class Value>
struct Plain<std::optional<Value>> {
    using type = Value;
    static std::optional<Value> get(const std::optional<Value>& value) { return value; }
};

/// `fields` is the struct `owner`.
struct Field {
    const std::type_info* owner = nullptr;  ///< nullptr: bound to nothing
    std::function<void(void* fields, const std::string& text)> assign = {};
    std::function<bool(const void* fields, const std::string& text)> equals = {};
    /// Returns nullopt where the field has no value.
    std::function<std::optional<std::string>(const void* fields)> text = {};
};

/// `Value`: std::string, bool, std::int64_t, int, double, std::uint64_t (bytes), or std::optional
/// of one where the option may have no value.
template <class Struct, class Value>
Field field(Value Struct::*member) {
    using Type = typename Plain<Value>::type;
    const auto get = [member](const void* fields) {
        return Plain<Value>::get(static_cast<const Struct*>(fields)->*member);
    };
    return {
        .owner = &typeid(Struct),
        .assign =
            [member](void* fields, const std::string& text) {
                static_cast<Struct*>(fields)->*member = field_of<Type>(text);
            },
        .equals = [get](const void* fields,
                        const std::string& text) { return get(fields) == field_of<Type>(text); },
        .text = [get](const void* fields) -> std::optional<std::string> {
            const auto value = get(fields);
            return value ? std::optional(fmt::format("{}", *value)) : std::nullopt;
        }};
}

}  // namespace ranklab::options
