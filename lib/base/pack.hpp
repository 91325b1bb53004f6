// A value as bytes and back: what processes of one build tell each other.
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

/// Numbers, structs of them, texts, lists, and structs that name what they consist of:
///   static auto fields(auto& self) { return std::tie(self.name, self.ranks); }
template <class Value>
void pack(std::string& bytes, const Value& value) {
    static_assert(!std::ranges::view<Value> && !std::is_pointer_v<Value>,
                  "its bytes are an address");
    if constexpr (std::is_trivially_copyable_v<Value>) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else if constexpr (requires { Value::fields(value); }) {
        std::apply([&](const auto&... field) { (pack(bytes, field), ...); }, Value::fields(value));
    } else {
        pack(bytes, value.size());
        for (const auto& one : value) pack(bytes, one);
    }
}

/// Takes the value from the front; false where there is none of that form.
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
/// Nullopt where the bytes are not just that.
template <class Value>
std::optional<Value> unpacked(std::string_view bytes) {
    std::optional<Value> value(std::in_place);
    return unpack(bytes, *value) && bytes.empty() ? value : std::nullopt;
}

}  // namespace ranklab::base
