#include "hdf5/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.hpp"

namespace ranklab::hdf5 {
namespace {

// Makes a data space: scalar if `shape` has no dimensions, with nothing selected if one is 0.
Id space_of(std::span<const hsize_t> shape, std::string_view what) {
    if (shape.empty()) return own<H5Screate>(what, H5S_SCALAR);
    Id space = own<H5Screate_simple>(what, static_cast<int>(shape.size()), shape.data(), nullptr);
    if (bytes_of(shape, 1) == 0) check<H5Sselect_none>(what, space.get());
    return space;
}

constexpr unsigned long long kMostInHeader = 2048, kMostContiguous = 32768, kChunkBytes = 262144;

// The first filter of the dataset that the library lacks: "lzf"; "" if it has all.
std::string missing_filter(const Object& dataset) {
    const Id properties = own<H5Dget_create_plist>(dataset.path(), dataset.id());
    const int filters = check<H5Pget_nfilters>(dataset.path(), properties.get());
    for (int i = 0; i < filters; ++i) {
        unsigned flags = 0, config = 0;
        std::size_t values = 0;
        std::array<char, 64> name{};
        const auto filter = H5Pget_filter2(properties.get(), static_cast<unsigned>(i), &flags,
                                           &values, nullptr, name.size(), name.data(), &config);
        if (filter >= 0 && H5Zfilter_avail(filter) <= 0)
            return name[0] != 0 ? name.data() : fmt::format("number {}", filter);
    }
    return "";
}

Id select(const Object& dataset, const Box& box) {
    const std::string& what = dataset.path();
    Id space = own<H5Dget_space>(what, dataset.id());
    const auto start = sizes(box.start), count = sizes(box.count);
    if (bytes_of(count, 1) == 0)
        check<H5Sselect_none>(what, space.get());
    else
        check<H5Sselect_hyperslab>(what, space.get(), H5S_SELECT_SET, start.data(), nullptr,
                                   count.data(), nullptr);
    return space;
}

}  // namespace

// A switch, not a table: HDF5's types are variables that the library sets when it starts.
hid_t native_type(base::Element element) {
    switch (element) {
        case base::Element::u8:
            return H5T_NATIVE_UINT8;
        case base::Element::i32:
            return H5T_NATIVE_INT32;
        case base::Element::i64:
            return H5T_NATIVE_INT64;
        case base::Element::f32:
            return H5T_NATIVE_FLOAT;
        case base::Element::f64:
            return H5T_NATIVE_DOUBLE;
        default:
            break;
    }
    throw base::Error("internal: an element type that our HDF5 files do not have");
}

unsigned long long bytes_of(std::span<const hsize_t> shape, std::size_t element_bytes) {
    unsigned long long bytes = element_bytes;
    for (const hsize_t extent : shape) {
        if (extent != 0 && bytes > std::numeric_limits<unsigned long long>::max() / extent)
            return std::numeric_limits<unsigned long long>::max();
        bytes *= extent;
    }
    return bytes;
}

Id file_access() {
    Id properties = own<H5Pcreate>("file access", H5P_FILE_ACCESS);
    check<H5Pset_fclose_degree>("file access", properties.get(), H5F_CLOSE_STRONG);
    check<H5Pset_file_locking>("file access", properties.get(), false, true);
    return properties;
}

Id plain_dataset() {
    Id properties = own<H5Pcreate>("a dataset", H5P_DATASET_CREATE);
    check<H5Pset_obj_track_times>("a dataset", properties.get(), false);
    check<H5Pset_fill_time>("a dataset", properties.get(), H5D_FILL_TIME_NEVER);
    return properties;
}

Id layout_for(std::span<const hsize_t> shape, std::size_t element_bytes) {
    Id properties = plain_dataset();
    // Without this hint each header reserves space for attributes.
    check<H5Pset_dset_no_attrs_hint>("a dataset", properties.get(), true);
    const unsigned long long bytes = bytes_of(shape, element_bytes);
    if (bytes > kMostContiguous) {
        std::vector<hsize_t> chunk(shape.begin(), shape.end());  // of whole rows
        const unsigned long long row_bytes = bytes_of(shape.subspan(1), element_bytes);
        chunk[0] = std::clamp<hsize_t>(kChunkBytes / row_bytes, 1, shape[0]);
        set_chunk(properties, chunk);
        check<H5Pset_shuffle>("a dataset", properties.get());
        check<H5Pset_deflate>("a dataset", properties.get(), 4);
    } else if (bytes > 0 && bytes <= kMostInHeader) {
        check<H5Pset_layout>("a dataset", properties.get(), H5D_COMPACT);
    }
    return properties;
}

void set_chunk(const Id& properties, std::span<const hsize_t> edges) {
    check<H5Pset_chunk>("a dataset", properties.get(), static_cast<int>(edges.size()),
                        edges.data());
}

std::vector<hsize_t> sizes(std::span<const std::int64_t> numbers) {
    return {numbers.begin(), numbers.end()};
}

void refuse_other_files(const Object& dataset) {
    const std::string& what = dataset.path();
    const Id properties = own<H5Dget_create_plist>(what, dataset.id());
    if (check<H5Pget_layout>(what, properties.get()) == H5D_VIRTUAL ||
        H5Pget_external_count(properties.get()) > 0)
        throw base::DataError(
            fmt::format("the values of {} lie in other files; copy them into it (h5repack)", what));
}

std::vector<hsize_t> shape_of(const Object& dataset) {
    const Id space = own<H5Dget_space>(dataset.path(), dataset.id());
    std::vector<hsize_t> extents(check<H5Sget_simple_extent_ndims>(dataset.path(), space.get()));
    if (!extents.empty())
        check<H5Sget_simple_extent_dims>(dataset.path(), space.get(), extents.data(), nullptr);
    return extents;
}

Object create_dataset(hid_t place, const std::string& name, const std::string& path, hid_t type,
                      std::span<const hsize_t> shape, const Id& properties) {
    const Id space = space_of(shape, path);
    return {own<H5Dcreate2>(path, place, name.c_str(), type, space.get(), H5P_DEFAULT,
                            properties.get(), H5P_DEFAULT),
            path};
}

void write_whole(const Object& dataset, hid_t type, const void* values) {
    if (values != nullptr)
        check<H5Dwrite>(dataset.path(), dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
}

void read_whole(const Object& dataset, hid_t type, void* values) {
    if (values != nullptr)
        check<H5Dread>(dataset.path(), dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
}

void write_box(const Object& dataset, const Box& box, hid_t type, const void* values,
               std::size_t size, hid_t transfer) {
    const Id space = select(dataset, box);
    const std::size_t selected = check<H5Sget_select_npoints>(dataset.path(), space.get());
    if (selected != size || check<H5Sselect_valid>(dataset.path(), space.get()) == 0)
        throw base::Error(fmt::format("internal: {} values for the {} of a part of {}", size,
                                      selected, dataset.path()));
    const Id memory = space_of(sizes(box.count), dataset.path());
    check<H5Dwrite>(dataset.path(), dataset.id(), type, memory.get(), space.get(), transfer,
                    values);
}

void read_box(const Object& dataset, const Box& box, hid_t type, void* values) {
    Id space, memory;
    if (!box.count.empty()) {
        space = select(dataset, box);
        memory = space_of(sizes(box.count), dataset.path());
    }
    const auto id_or_all = [](const Id& one) { return one ? one.get() : H5S_ALL; };
    if (H5Dread(dataset.id(), type, id_or_all(memory), id_or_all(space), H5P_DEFAULT, values) >= 0)
        return;
    const auto why = library_text();
    if (const auto filter = missing_filter(dataset); !filter.empty())
        throw base::DataError(
            fmt::format("{} needs the filter {}, which is not in HDF5 itself; write it again "
                        "without, or with gzip",
                        dataset.path(), filter));
    throw base::DataError(fmt::format(
        "{} cannot be read ({}); its file is damaged or truncated: copy or make it again",
        dataset.path(), why));
}

}  // namespace ranklab::hdf5
