// Private to lib/hdf5: includes hdf5.h, and checks its calls. check.cpp opens the library before
// main.
#pragma once

#include <hdf5.h>

#include <string>
#include <string_view>
#include <type_traits>

#include "hdf5/object.hpp"

namespace ranklab::hdf5 {

static_assert(std::is_same_v<hid_t, std::int64_t>, "ranklab needs HDF5 1.10 or newer");

/// The library's error stack: the outermost message, then the innermost cause.
std::string library_text();

/// Throws Hdf5Error with `what` the failed call worked on, and library_text().
[[noreturn]] void fail(std::string_view what);

/// Calls a function of the library, check<H5Fflush>(what, file, scope), and returns its result.
/// Throws Hdf5Error on failure: a negative number or null pointer.
template <auto Function, class... Arguments>
auto check(std::string_view what, Arguments... arguments) {
    const auto result = Function(arguments...);
    bool failed = false;
    if constexpr (std::is_pointer_v<decltype(Function(arguments...))>)
        failed = result == nullptr;
    else if constexpr (std::is_signed_v<decltype(result)> ||
                       std::is_enum_v<decltype(Function(arguments...))>)
        failed = result < 0;
    if (failed) fail(what);
    return result;
}

/// check() for calls that return an identifier, which the Id owns.
template <auto Function, class... Arguments>
Id own(std::string_view what, Arguments... arguments) {
    return Id(check<Function>(what, arguments...));
}

/// Throws DataError if `bytes` exceeds 4 GiB or what the object's file can hold, so that a damaged
/// header does not cause a huge allocation.
void check_claim(hid_t object, unsigned long long bytes, std::string_view what);

/// A type for UTF-8 text of `size` bytes (padded with NUL) or H5T_VARIABLE.
Id text_type(std::size_t size);

}  // namespace ranklab::hdf5
