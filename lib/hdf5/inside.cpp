#include "hdf5/inside.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/error.hpp"
#include "hdf5/layout.hpp"

namespace ranklab::hdf5 {
namespace {

constexpr std::array kFilters{H5Z_FILTER_DEFLATE, H5Z_FILTER_SHUFFLE, H5Z_FILTER_FLETCHER32};

herr_t refuse_to_follow(const char*, const char*, const char*, const char*, unsigned*, hid_t,
                        void* asked) noexcept {
    *static_cast<bool*>(asked) = true;
    return -1;
}

// Whether the library came upon a link into another file since this was last set to false. One for the
// process, as the library is.
bool& met_external_link() {
    static bool met = false;
    return met;
}

// Made once: asking it of each object would cost more than the object.
hid_t link_access() {
    static const hid_t properties = [] {
        const hid_t made = check<H5Pcreate>("link access", H5P_LINK_ACCESS);
        check<H5Pset_elink_cb>("link access", made, refuse_to_follow, &met_external_link());
        return made;
    }();
    return properties;
}

[[noreturn]] void refuse(const std::string& what, const char* why) {
    throw base::DataError(fmt::format(
        "{} {}, which ranklab does not follow; put what it leads to into the file (h5copy, h5repack)", what,
        why));
}

// A chunk is held whole, however little of it is wanted.
void check_chunk(hid_t dataset, const Id& properties, const std::string& what) {
    std::array<hsize_t, H5S_MAX_RANK> chunk{};
    const int dimensions = check<H5Pget_chunk>(what, properties.get(), H5S_MAX_RANK, chunk.data());
    const Id type = own<H5Dget_type>(what, dataset);
    check_held(dataset, bytes_of(std::span(chunk).first(dimensions), H5Tget_size(type.get())), what);
}

// The library takes the shape's word for how much it copies out of a buffer that has the storage's size.
void check_extent(hid_t dataset, H5D_layout_t layout, const std::string& what) {
    const Id type = own<H5Dget_type>(what, dataset);
    const Id space = own<H5Dget_space>(what, dataset);
    const hsize_t entries = entries_of(space, what);
    const hsize_t stored = H5Dget_storage_size(dataset);
    const bool never_written = stored == 0 && layout == H5D_CONTIGUOUS;
    // A text of variable length is smaller in memory than its reference in the file.
    if (never_written || stored >= bytes_of(std::array{entries}, H5Tget_size(type.get()))) return;
    throw base::DataError(fmt::format("{} has {} entries and {} bytes, which disagree: the file is damaged",
                                      what, entries, stored));
}

// Whose storage is in the file, and in a form that the library reads without loading programs.
void check_storage(hid_t dataset, const std::string& what) {
    const Id properties = own<H5Dget_create_plist>(what, dataset);
    const H5D_layout_t layout = check<H5Pget_layout>(what, properties.get());
    if (layout == H5D_VIRTUAL) refuse(what, "is a virtual dataset, a view of other datasets");
    if (layout == H5D_CHUNKED) check_chunk(dataset, properties, what);
    if (check<H5Pget_external_count>(what, properties.get()) > 0)
        refuse(what, "keeps its numbers in another file (external storage)");
    if (layout != H5D_CHUNKED) check_extent(dataset, layout, what);
    const int filters = check<H5Pget_nfilters>(what, properties.get());
    for (unsigned i = 0; i < static_cast<unsigned>(filters); ++i) {
        unsigned flags = 0;
        std::size_t values = 0;
        const H5Z_filter_t filter =
            check<H5Pget_filter2>(what, properties.get(), i, &flags, &values, nullptr, 0, nullptr, nullptr);
        if (std::find(kFilters.begin(), kFilters.end(), filter) == kFilters.end())
            throw base::DataError(fmt::format(
                "{} is stored through filter {}, and ranklab reads deflate, shuffle and fletcher32 alone; "
                "convert it with h5repack -f GZIP=4",
                what, static_cast<int>(filter)));
    }
}

}  // namespace

Id open_inside(hid_t group, const std::string& name, const std::string& what, hid_t access) {
    met_external_link() = false;
    Id id(H5Oopen(group, name.c_str(), link_access()));
    if (met_external_link()) refuse(what, "leads into another file (an external link)");
    if (!id) fail(what);
    if (H5Iget_type(id.get()) != H5I_DATASET) return id;
    check_storage(id.get(), what);
    if (access != H5P_DEFAULT) id = own<H5Dopen2>(what, group, name.c_str(), access);
    return id;
}

Id open_group_inside(hid_t group, const std::string& name, const std::string& what) {
    Id id = open_inside(group, name, what);
    if (H5Iget_type(id.get()) != H5I_GROUP) throw base::DataError(fmt::format("{} is no group", what));
    return id;
}

Id open_dataset_inside(hid_t group, const std::string& name, const std::string& what, hid_t access) {
    Id id = open_inside(group, name, what, access);
    if (H5Iget_type(id.get()) != H5I_DATASET) throw base::DataError(fmt::format("{} is no dataset", what));
    return id;
}

}  // namespace ranklab::hdf5
