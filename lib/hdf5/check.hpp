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

/// What a call works on, and where in our source it stands.
struct Work {
    template <class Text>
    // NOLINTNEXTLINE(google-explicit-constructor): a call names what it works on, and no more
    Work(const Text& name, std::source_location where = std::source_location::current())
        : what(name), place(where) {}
    std::string_view what;
    std::source_location place;
};

/// Throws Hdf5Error: the call, what it worked on, the library's text and the place in our source.
[[noreturn]] void fail(std::string_view call, const Work& work);

/// "H5Fopen", of the function itself.
template <auto Function>
constexpr std::string_view name_of() {
    constexpr std::string_view kBefore = "Function = ";
    std::string_view text = __PRETTY_FUNCTION__;
    text.remove_prefix(text.find(kBefore) + kBefore.size());
    if (text.starts_with('&')) text.remove_prefix(1);
    return text.substr(0, text.find_first_of(";]"));
}

/// Calls a function of the library: check<H5Fflush>(what, file, scope). Returns its result unless that says
/// that the call failed (HDF5: negative, or a null pointer).
template <auto Function, class... Arguments>
auto check(const Work& work, Arguments... arguments) {
    const auto result = Function(arguments...);
    bool failed = false;
    if constexpr (std::is_pointer_v<decltype(Function(arguments...))>)
        failed = result == nullptr;
    else if constexpr (std::is_signed_v<decltype(result)> || std::is_enum_v<decltype(Function(arguments...))>)
        failed = result < 0;
    if (failed) fail(name_of<Function>(), work);
    return result;
}

/// check for calls that make an identifier.
template <auto Function, class... Arguments>
Id own(const Work& work, Arguments... arguments) {
    return Id(check<Function>(work, arguments...));
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
