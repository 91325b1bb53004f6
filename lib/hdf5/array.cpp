#include "hdf5/array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "hdf5/check.hpp"
#include "hdf5/layout.hpp"

namespace ranklab::hdf5 {

namespace {

// The shape of a dataset of numbers. Throws DataError for other types and ranks.
std::vector<hsize_t> numeric_shape(const Object& dataset) {
    const std::string& what = dataset.path();
    const Id type = own<H5Dget_type>(what, dataset.id());
    const H5T_class_t kind = check<H5Tget_class>(what, type.get());
    const std::vector<hsize_t> shape = shape_of(dataset);
    if ((kind != H5T_FLOAT && kind != H5T_INTEGER) || shape.empty() || shape.size() > 2)
        throw base::DataError(
            fmt::format("{} is not a one- or two-dimensional array of numbers", what));
    check_claim(dataset.id(), bytes_of(shape, std::max(H5Tget_size(type.get()), sizeof(double))),
                what);
    return shape;
}

Object create(const Group& group, const std::string& name, std::size_t rows, std::size_t columns) {
    const std::string path = group.path_of(name);
    std::vector<hsize_t> shape{rows};
    if (columns > 1) shape.push_back(columns);
    const Id space = space_of(shape, path);
    const Id layout = layout_for(shape, sizeof(double));
    return {own<H5Dcreate2>(path, group.id(), name.c_str(), H5T_IEEE_F64LE, space.get(),
                            H5P_DEFAULT, layout.get(), H5P_DEFAULT),
            path};
}

void check_rows(const std::string& path, std::size_t values, std::size_t columns) {
    if (columns == 0 || values % columns != 0)
        throw base::Error(
            fmt::format("{}: {} values do not make rows of {} columns", path, values, columns));
}

}  // namespace

Object write_array(const Group& group, const std::string& name, std::span<const double> values,
                   std::size_t columns) {
    check_rows(group.path_of(name), values.size(), columns);
    Object dataset = create(group, name, values.size() / columns, columns);
    if (!values.empty())
        check<H5Dwrite>(dataset.path(), dataset.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
                        H5P_DEFAULT, values.data());
    return dataset;
}

Array read_array(const Group& group, const std::string& name) {
    const Object dataset = open_dataset(group, name);
    const std::vector<hsize_t> shape = numeric_shape(dataset);
    const hsize_t columns = shape.size() == 2 ? shape[1] : 1;
    Array array;
    array.rows = shape[0];
    array.columns = columns;
    array.values.resize(shape[0] * columns);
    if (!array.values.empty())
        check<H5Dread>(dataset.path(), dataset.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
                       H5P_DEFAULT, array.values.data());
    return array;
}

void write_bytes(const Group& group, const std::string& name, std::string_view bytes) {
    const std::string path = group.path_of(name);
    const std::array<hsize_t, 1> shape{bytes.size()};
    const Id space = space_of(shape, path);
    const Id layout = plain_dataset();
    set_chunk(layout, shape);
    check<H5Pset_fletcher32>(path, layout.get());
    const Id dataset = own<H5Dcreate2>(path, group.id(), name.c_str(), H5T_STD_U8LE, space.get(),
                                       H5P_DEFAULT, layout.get(), H5P_DEFAULT);
    check<H5Dwrite>(path, dataset.get(), H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                    bytes.data());
}

std::string read_bytes(const Group& group, const std::string& name) {
    const Object dataset = open_dataset(group, name);
    const std::vector<hsize_t> shape = shape_of(dataset);
    if (shape.size() != 1)
        throw base::DataError(fmt::format("{} is not a list of bytes", dataset.path()));
    check_claim(dataset.id(), shape[0], dataset.path());
    std::string bytes(shape[0], '\0');
    check<H5Dread>(dataset.path(), dataset.id(), H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                   bytes.data());
    return bytes;
}

namespace {

constexpr std::size_t kMostDimensions = 8;

// A function, since HDF5's types are variables of the library.
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
        default:
            break;
    }
    throw base::Error("internal: HDF5 files of ranklab have no such element type");
}

}  // namespace

std::uint64_t write_typed(const Group& group, const std::string& name, const TypedArray& array) {
    const std::string path = group.path_of(name);
    const auto shape = sizes(array.shape);
    if (shape.size() > kMostDimensions ||
        bytes_of(shape, size_of(array.element)) != array.bytes.size())
        throw base::Error(
            fmt::format("internal: {}: {} bytes do not match its shape", path, array.bytes.size()));
    const Id space = space_of(shape, path);
    const Id layout = plain_dataset();
    const Id dataset = own<H5Dcreate2>(path, group.id(), name.c_str(), native_type(array.element),
                                       space.get(), H5P_DEFAULT, layout.get(), H5P_DEFAULT);
    if (array.bytes.empty()) return 0;
    check<H5Dwrite>(path, dataset.get(), native_type(array.element), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                    array.bytes.data());
    const haddr_t offset = H5Dget_offset(dataset.get());
    if (offset == HADDR_UNDEF) fail(path);
    return offset;
}

}  // namespace ranklab::hdf5
