// Serialises values for messages between processes of one build.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ranklab::base {

/// Appends the value's bytes. Takes trivially copyable types, strings, lists, and structs that list
/// their fields:
///   static auto fields(auto& self) { return std::tie(self.name, self.ranks); }
template <class Value>
void pack(std::string& bytes, const Value& value) {
    static_assert(!std::ranges::view<Value> && !std::is_pointer_v<Value>,
                  "a view's or pointer's bytes are an address");
    if constexpr (std::is_trivially_copyable_v<Value>) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else if constexpr (requires { Value::fields(value); }) {
        std::apply([&](const auto&... field) { (pack(bytes, field), ...); }, Value::fields(value));
    } else {
        pack(bytes, value.size());
        for (const auto& one : value) pack(bytes, one);
    }
}

/// Removes a value from the front of `bytes`; false if `bytes` is too short.
template <class Value>
bool unpack(std::string_view& bytes, Value& value) {
    if constexpr (std::is_trivially_copyable_v<Value>) {
        if (bytes.size() < sizeof value) return false;
        std::memcpy(&value, bytes.data(), sizeof value);
        bytes.remove_prefix(sizeof value);
        return true;
    } else if constexpr (requires { Value::fields(value); }) {
        return std::apply([&](auto&... field) { return (unpack(bytes, field) && ...); },
                          Value::fields(value));
    } else {
        std::size_t size = 0;
        if (!unpack(bytes, size) || size > bytes.size()) return false;
        value.resize(size);
        return std::ranges::all_of(value, [&](auto& one) { return unpack(bytes, one); });
    }
}

template <class Value>
std::string packed(const Value& value) {
    std::string bytes;
    pack(bytes, value);
    return bytes;
}
/// nullopt if the bytes are not exactly one value.
template <class Value>
std::optional<Value> unpacked(std::string_view bytes) {
    std::optional<Value> value(std::in_place);
    return unpack(bytes, *value) && bytes.empty() ? value : std::nullopt;
}

}  // namespace ranklab::base
