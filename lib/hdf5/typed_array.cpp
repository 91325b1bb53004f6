#include "hdf5/typed_array.hpp"

#include <fmt/format.h>

#include <array>

#include "base/error.hpp"
#include "hdf5/array.hpp"
#include "hdf5/check.hpp"
#include "hdf5/dataset_layout.hpp"

namespace ranklab::hdf5 {
namespace {

constexpr int kMostDimensions = 8;

// HDF5's types are globals of the library, not constants.
hid_t native_type(Element element) {
    switch (element) {
        case Element::u8:
            return H5T_NATIVE_UINT8;
        case Element::i32:
            return H5T_NATIVE_INT32;
        case Element::i64:
            return H5T_NATIVE_INT64;
        case Element::f32:
            return H5T_NATIVE_FLOAT;
        case Element::f64:
            return H5T_NATIVE_DOUBLE;
    }
    throw base::Error("internal: an element type that HDF5 files of ours do not have");
}

Id plain_layout() {
    Id properties = own(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate", "a dataset");
    check(H5Pset_obj_track_times(properties.get(), false), "H5Pset_obj_track_times", "a dataset");
    check(H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER), "H5Pset_fill_time", "a dataset");
    return properties;
}

}  // namespace

std::size_t size_of(Element element) {
    switch (element) {
        case Element::u8:
            return 1;
        case Element::i32:
        case Element::f32:
            return 4;
        case Element::i64:
        case Element::f64:
            return 8;
    }
    throw base::Error("internal: an element type of unknown size");
}

std::uint64_t write_typed(const Group& group, const std::string& name, const TypedArray& array) {
    const std::string path = fmt::format("{}/{}", group.path(), name);
    const std::vector<hsize_t> shape(array.shape.begin(), array.shape.end());
    if (shape.size() > kMostDimensions || bytes_of(shape, size_of(array.element)) != array.bytes.size())
        throw base::Error(fmt::format("{}: {} bytes are not what its shape says", path, array.bytes.size()));
    const Id space =
        own(shape.empty() ? H5Screate(H5S_SCALAR)
                          : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
            "H5Screate", path);
    const Id layout = plain_layout();
    const Id dataset = own(H5Dcreate2(group.id(), name.c_str(), native_type(array.element), space.get(),
                                      H5P_DEFAULT, layout.get(), H5P_DEFAULT),
                           "H5Dcreate2", path);
    if (array.bytes.empty()) return 0;
    check(H5Dwrite(dataset.get(), native_type(array.element), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                   array.bytes.data()),
          "H5Dwrite", path);
    const haddr_t offset = H5Dget_offset(dataset.get());
    if (offset == HADDR_UNDEF) fail("H5Dget_offset", path, std::source_location::current());
    return offset;
}

}  // namespace ranklab::hdf5
