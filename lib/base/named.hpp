// The enumerator that a word names.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

namespace ranklab::base {

/// `names` are in the enumeration's order. nullopt for another word.
template <class Enum>
constexpr std::optional<Enum> named(const auto& names, std::string_view word) {
    const auto found = std::ranges::find(names, word);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enum>(found - names.begin());
}

}  // namespace ranklab::base
