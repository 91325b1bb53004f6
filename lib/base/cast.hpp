// The conversions that say what they are for. Where only the sign differs (an index, a length) none is
// needed: a cast would check nothing either. docs: -Wconversion, lib/cmake/RanklabSettings.cmake.
#pragma once

#include <concepts>
#include <type_traits>

namespace ranklab::base {

/// A count as a real number: exact up to 2^53, far above what is counted here.
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

}  // namespace ranklab::base
