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
constexpr std::array kElements{Element::u8, Element::i32, Element::i64, Element::f32, Element::f64};

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

// A file made on a machine of the other byte order is not refused: the type in memory counts.
Element element_of(const Object& dataset) {
    const std::string& what = dataset.path();
    const Id type = own(H5Dget_type(dataset.id()), "H5Dget_type", what);
    const Id native = own(H5Tget_native_type(type.get(), H5T_DIR_ASCEND), "H5Tget_native_type", what);
    for (const Element element : kElements) {
        if (check(H5Tequal(native.get(), native_type(element)), "H5Tequal", what) > 0) return element;
    }
    throw base::DataError(fmt::format("{} holds numbers of a type that is not expected here", what));
}

std::vector<hsize_t> shape_of(const Object& dataset) {
    const std::string& what = dataset.path();
    const Id space = own(H5Dget_space(dataset.id()), "H5Dget_space", what);
    const int dimensions = check(H5Sget_simple_extent_ndims(space.get()), "H5Sget_simple_extent_ndims", what);
    if (H5Sget_simple_extent_type(space.get()) == H5S_NULL || dimensions > kMostDimensions)
        throw base::DataError(fmt::format("{} is no array of up to {} dimensions", what, kMostDimensions));
    std::vector<hsize_t> shape(static_cast<std::size_t>(dimensions));
    check(H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr), "H5Sget_simple_extent_dims", what);
    return shape;
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

void write_typed(const Group& group, const std::string& name, const TypedArray& array) {
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
    if (array.bytes.empty()) return;
    check(H5Dwrite(dataset.get(), native_type(array.element), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                   array.bytes.data()),
          "H5Dwrite", path);
}

TypedArray read_typed(const Group& group, const std::string& name) {
    const Object dataset = open_dataset(group, name);
    TypedArray array{.element = element_of(dataset), .shape = {}, .bytes = {}};
    const std::vector<hsize_t> shape = shape_of(dataset);
    const unsigned long long bytes = bytes_of(shape, size_of(array.element));
    check_size(dataset.id(), bytes, dataset.path());
    array.shape.assign(shape.begin(), shape.end());
    array.bytes.resize(bytes);
    if (bytes == 0) return array;
    check(
        H5Dread(dataset.id(), native_type(array.element), H5S_ALL, H5S_ALL, H5P_DEFAULT, array.bytes.data()),
        "H5Dread", dataset.path());
    return array;
}

}  // namespace ranklab::hdf5
