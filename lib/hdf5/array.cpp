#include "hdf5/array.hpp"

#include <fmt/format.h>

#include <array>

#include "base/error.hpp"
#include "hdf5/check.hpp"
#include "hdf5/dataset_layout.hpp"

namespace ranklab::hdf5 {
namespace {

// The dimensions of a dataset that is known to hold numbers.
std::vector<hsize_t> numeric_shape(const Object& dataset) {
    const std::string& what = dataset.path();
    const Id type = own(H5Dget_type(dataset.id()), "H5Dget_type", what);
    const H5T_class_t kind = check(H5Tget_class(type.get()), "H5Tget_class", what);
    const Id space = own(H5Dget_space(dataset.id()), "H5Dget_space", what);
    const int rank = check(H5Sget_simple_extent_ndims(space.get()), "H5Sget_simple_extent_ndims", what);
    if ((kind != H5T_FLOAT && kind != H5T_INTEGER) || rank < 1 || rank > 2)
        throw base::DataError(fmt::format("{} is not a one- or two-dimensional array of numbers", what));
    std::vector<hsize_t> shape(static_cast<std::size_t>(rank));
    check(H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr), "H5Sget_simple_extent_dims", what);
    return shape;
}

}  // namespace

Object open_dataset(const Group& group, const std::string& name) {
    const std::string path = fmt::format("{}/{}", group.path(), name);
    return {own(H5Dopen2(group.id(), name.c_str(), H5P_DEFAULT), "H5Dopen2", path), path};
}

Object write_array(const Group& group, const std::string& name, std::span<const double> values,
                   std::size_t columns) {
    const std::string path = fmt::format("{}/{}", group.path(), name);
    if (columns == 0 || values.size() % columns != 0)
        throw base::Error(
            fmt::format("{}: {} values do not make rows of {} columns", path, values.size(), columns));
    const std::array<hsize_t, 2> shape{values.size() / columns, columns};
    const int rank = columns > 1 ? 2 : 1;
    const Id space = own(H5Screate_simple(rank, shape.data(), nullptr), "H5Screate_simple", path);
    const Id layout = layout_for(std::span(shape).first(static_cast<std::size_t>(rank)), sizeof(double));
    Object dataset(own(H5Dcreate2(group.id(), name.c_str(), H5T_IEEE_F64LE, space.get(), H5P_DEFAULT,
                                  layout.get(), H5P_DEFAULT),
                       "H5Dcreate2", path),
                   path);
    if (!values.empty())
        check(H5Dwrite(dataset.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
              "H5Dwrite", path);
    return dataset;
}

Array read_array(const Group& group, const std::string& name) {
    const Object dataset = open_dataset(group, name);
    const std::vector<hsize_t> shape = numeric_shape(dataset);
    const hsize_t columns = shape.size() == 2 ? shape[1] : 1;
    check_size(dataset.id(), bytes_of(shape, sizeof(double)), dataset.path());
    Array array;
    array.rows = shape[0];
    array.columns = columns;
    array.values.resize(shape[0] * columns);
    if (!array.values.empty())
        check(H5Dread(dataset.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.values.data()),
              "H5Dread", dataset.path());
    return array;
}

}  // namespace ranklab::hdf5
