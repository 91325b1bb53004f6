// Private to this room: hdf5.h, and the one check of every call.
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

/// Throws Hdf5Error: what a call worked on, and the library's text.
[[noreturn]] void fail(std::string_view what);

/// Calls a function of the library: check<H5Fflush>(what, file, scope). Returns its result unless
/// that says that the call failed (HDF5: negative, or a null pointer).
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

/// Like check(), for calls that make an identifier.
template <auto Function, class... Arguments>
Id own(std::string_view what, Arguments... arguments) {
    return Id(check<Function>(what, arguments...));
}

/// Opens the library, and stops it from printing its errors: they are thrown instead.
void initialise();

/// Throws DataError unless `bytes` is an amount that a file of this size may hold and memory may
/// take: a damaged header must not make us allocate without bound.
void check_claim(hid_t object, unsigned long long bytes, std::string_view what);

/// Opens the object of that name (or path). DataError where an external link leads into another
/// file.
Id open_inside(hid_t place, const std::string& name, const std::string& what);
/// Opens a dataset; `access` are its access properties.
Id open_dataset_inside(hid_t place, const std::string& name, const std::string& what,
                       hid_t access = H5P_DEFAULT);

/// UTF-8, of that size (padded with NUL) or H5T_VARIABLE.
Id text_type(std::size_t size);

}  // namespace ranklab::hdf5
