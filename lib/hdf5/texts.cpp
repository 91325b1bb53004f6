#include "hdf5/texts.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "base/error.hpp"
#include "hdf5/layout.hpp"
#include "hdf5/read_state.hpp"

namespace ranklab::hdf5 {
namespace {

constexpr std::size_t kReferenceBytes = 16;  // a length of 4, an address of 8 and a number of 4 bytes

// A conversion that leaves the bytes of a reference as they are, so that the library hands it out instead of
// following it.
herr_t leave(hid_t from, hid_t to, H5T_cdata_t* data, std::size_t, std::size_t, std::size_t, void*, void*,
             hid_t) noexcept {
    if (data->command != H5T_CONV_INIT) return 0;
    data->need_bkg = H5T_BKG_NO;
    const bool fits = H5Tis_variable_str(from) > 0 && H5Tget_size(to) == kReferenceBytes &&
                      H5Tget_size(from) == kReferenceBytes;
    return fits ? 0 : -1;
}

// Made once and never closed, as the library's own types.
hid_t reference_type() {
    static const hid_t type = [] {
        const hid_t made = check<H5Tcreate>("a reference to a text", H5T_OPAQUE, kReferenceBytes);
        check<H5Tregister>("a reference to a text", H5T_PERS_SOFT, "reference to a text",
                           variable_text_type().get(), made, leave);
        return made;
    }();
    return type;
}

template <class T>
T number_at(const char* from) {
    T value{};
    std::memcpy(&value, from, sizeof value);
    return value;
}

TextReference reference_at(const char* from) {
    return {number_at<std::uint32_t>(from), number_at<std::uint64_t>(from + 4),
            number_at<std::uint32_t>(from + 12)};
}

// Of a file that we write ourselves, which the library has in hand. In the file's own type, since it converts
// between character sets of equal name only.
template <class Read>
std::vector<std::string> through_library(hid_t type, hsize_t entries, Read read) {
    std::vector<char*> pointers(entries, nullptr);
    read(type, static_cast<void*>(pointers.data()));
    std::vector<std::string> texts;
    for (char* text : pointers) {
        texts.emplace_back(text == nullptr ? "" : text);
        H5free_memory(text);
    }
    return texts;
}

// The library multiplies a text's length by this when it copies one, and takes the file's word for it.
void check_characters(hid_t type, const std::string& what) {
    const std::size_t bytes = H5Tget_size(own<H5Tget_super>(what, type).get());
    if (bytes != 1)
        throw base::DataError(fmt::format(
            "{} claims characters of {} bytes, and a text's have 1: the file is damaged", what, bytes));
}

template <class Read>
std::vector<std::string> texts(hid_t object, hid_t type, hsize_t entries, const std::string& what,
                               Read read) {
    ReadState* file = read_state_of(object, what);
    if (file == nullptr) return through_library(type, entries, read);
    check_characters(type, what);
    file->take(bytes_of(std::array{entries}, kReferenceBytes + sizeof(std::string)), what);
    std::vector<char> bytes(entries * kReferenceBytes);
    read(reference_type(), static_cast<void*>(bytes.data()));
    std::vector<std::string> found;
    found.reserve(entries);
    for (hsize_t i = 0; i < entries; ++i)
        found.push_back(file->text(reference_at(bytes.data() + i * kReferenceBytes), what));
    return found;
}

}  // namespace

bool is_variable_text(hid_t type) {
    return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0;
}

std::vector<std::string> attribute_texts(hid_t attribute, hid_t type, hsize_t entries,
                                         const std::string& what) {
    return texts(attribute, type, entries, what,
                 [&](hid_t in_memory, void* to) { check<H5Aread>(what, attribute, in_memory, to); });
}

std::vector<std::string> dataset_texts(hid_t dataset, hid_t type, hsize_t entries, const std::string& what) {
    return texts(dataset, type, entries, what, [&](hid_t in_memory, void* to) {
        check<H5Dread>(what, dataset, in_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, to);
    });
}

}  // namespace ranklab::hdf5
