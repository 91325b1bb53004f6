// Private to this room: hdf5.h, and the one check of every call.
#pragma once

#include <hdf5.h>

#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include "hdf5/handle.hpp"

namespace ranklab::hdf5 {

static_assert(std::is_same_v<hid_t, std::int64_t>, "ranklab needs HDF5 1.10 or newer");

/// What the library's error stack says: the outermost complaint, then its innermost cause.
std::string library_text();

/// Throws Hdf5Error: the call, `what` it worked on, the library's text and the place in our source.
[[noreturn]] void fail(const char* call, std::string_view what, const std::source_location& place);

/// Returns `result` unless it says that the call failed (HDF5: negative, or a null pointer).
template <class T>
T check(T result, const char* call, std::string_view what,
        const std::source_location& place = std::source_location::current()) {
    bool failed = false;
    if constexpr (std::is_pointer_v<T>)
        failed = result == nullptr;
    else if constexpr (!std::is_unsigned_v<T>)
        failed = static_cast<long long>(result) < 0;
    if (failed) fail(call, what, place);
    return result;
}

/// check for calls that make an identifier.
inline Id own(hid_t id, const char* call, std::string_view what,
              const std::source_location& place = std::source_location::current()) {
    return Id(check(id, call, what, place));
}

/// Opens the library, and stops it from printing its errors: they are thrown instead.
void initialise();

/// Throws DataError unless `bytes` is an amount that a file of this size may plausibly hold: a damaged
/// or hostile header must not make us allocate without bound.
void check_claim(hid_t object, unsigned long long bytes, std::string_view what);
/// The same for what is read piece by piece, so that only the file's size bounds it.
void check_possible(hid_t object, unsigned long long bytes, std::string_view what);
/// The same for what is held in memory for a while.
void check_held(hid_t object, unsigned long long bytes, std::string_view what);
/// The same for what is about to be kept in memory: all that is taken out of one file together is bounded.
void check_size(hid_t object, unsigned long long bytes, std::string_view what);

Id fixed_text_type(std::size_t size);
Id variable_text_type();

}  // namespace ranklab::hdf5
