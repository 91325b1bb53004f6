#include "hdf5/array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

#include "base/error.hpp"
#include "hdf5/layout.hpp"

namespace ranklab::hdf5 {

namespace {

// Returns the dimensions; throws DataError unless the dataset holds numbers in 1 or 2 dimensions.
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

void read_part(const Object& dataset, const Box& part, Element as, void* values, std::size_t size) {
    const std::lock_guard lock(library_mutex());
    if (!part.count.empty() && bytes_of(sizes(part.count), 1) != size)
        throw base::Error("internal: the memory for a part of a dataset has another size");
    read_box(dataset, part, native_type(as), values);
}

// Throws DataError unless the dataset holds numbers that lie in this file.
std::string type_of(const Object& dataset) {
    const std::string& what = dataset.path();
    const Id type = own<H5Dget_type>(what, dataset.id());
    const H5T_class_t kind = check<H5Tget_class>(what, type.get());
    refuse_other_files(dataset);
    if (kind == H5T_ENUM && H5Tget_member_index(type.get(), "FALSE") >= 0 &&
        H5Tget_member_index(type.get(), "TRUE") >= 0)
        return "bool";  // h5py's; read as integers
    if (kind != H5T_FLOAT && kind != H5T_INTEGER)
        throw base::DataError(fmt::format("{} is not an array of numbers", what));
    const char* const word = kind == H5T_FLOAT                         ? "float"
                             : H5Tget_sign(type.get()) == H5T_SGN_NONE ? "uint"
                                                                       : "int";
    return fmt::format("{}{}", word, 8 * H5Tget_size(type.get()));
}

void read_row(const Object& dataset, const std::vector<std::int64_t>& shape, std::int64_t index,
              base::Element as, std::byte* to) {
    const std::lock_guard lock(library_mutex());
    Box row{std::vector<std::int64_t>(shape.size()), shape};
    row.start[0] = index;
    row.count[0] = 1;
    read_box(dataset, row, native_type(as), to);
}

}  // namespace

Object write_array(const Group& group, const std::string& name, std::span<const double> values,
                   std::size_t columns) {
    const std::string path = group.path_of(name);
    if (columns == 0 || values.size() % columns != 0)
        throw base::Error(fmt::format("{}: {} values do not make rows of {} columns", path,
                                      values.size(), columns));
    std::vector<hsize_t> shape{values.size() / columns};
    if (columns > 1) shape.push_back(columns);
    Object dataset = create_dataset(group.id(), name, path, H5T_IEEE_F64LE, shape,
                                    layout_for(shape, sizeof(double)));
    write_whole(dataset, H5T_NATIVE_DOUBLE, values.empty() ? nullptr : values.data());
    return dataset;
}

Array read_array(const Group& group, const std::string& name) {
    const Object dataset = open_dataset(group, name);
    const std::vector<hsize_t> shape = numeric_shape(dataset);
    const hsize_t columns = shape.size() == 2 ? shape[1] : 1;
    Array array{std::vector<double>(shape[0] * columns), columns};
    read_whole(dataset, H5T_NATIVE_DOUBLE, array.values.empty() ? nullptr : array.values.data());
    return array;
}

void read_part(const Object& dataset, const Box& part, std::span<double> values) {
    read_part(dataset, part, Element::f64, values.data(), values.size());
}

void read_part(const Object& dataset, const Box& part, std::span<float> values) {
    read_part(dataset, part, Element::f32, values.data(), values.size());
}

void write_typed(const Group& group, const std::string& name, const TypedArray& array) {
    constexpr std::size_t kMostDimensions = 8;
    const std::string path = group.path_of(name);
    const auto shape = sizes(array.shape);
    if (shape.size() > kMostDimensions ||
        bytes_of(shape, size_of(array.element)) != array.bytes.size())
        throw base::Error(
            fmt::format("internal: {}: {} bytes do not fit its shape", path, array.bytes.size()));
    const hid_t type = native_type(array.element);
    write_whole(create_dataset(group.id(), name, path, type, shape, plain_dataset()), type,
                array.bytes.data());
}

TypedArray read_typed(const Group& group, const std::string& name) {
    const Object dataset = open_dataset(group, name);
    const std::string& what = dataset.path();
    const Id type = own<H5Dget_type>(what, dataset.id());
    for (const Element element :
         {Element::u8, Element::i32, Element::i64, Element::f32, Element::f64}) {
        if (check<H5Tequal>(what, type.get(), native_type(element)) == 0) continue;
        const auto shape = shape_of(dataset);
        const auto bytes = bytes_of(shape, size_of(element));
        check_claim(dataset.id(), bytes, what);
        TypedArray array{element, {shape.begin(), shape.end()}, std::vector<std::byte>(bytes)};
        read_whole(dataset, native_type(element), array.bytes.data());
        return array;
    }
    throw base::DataError(fmt::format("{} has an element type that ranklab does not store", what));
}

void write_bytes(const Group& group, const std::string& name, std::string_view bytes) {
    const std::string path = group.path_of(name);
    const std::array<hsize_t, 1> shape{bytes.size()};
    const Id layout = plain_dataset();
    set_chunk(layout, shape);
    check<H5Pset_fletcher32>(path, layout.get());
    write_whole(create_dataset(group.id(), name, path, H5T_STD_U8LE, shape, layout),
                H5T_NATIVE_UINT8, bytes.data());
}

std::string read_bytes(const Group& group, const std::string& name) {
    const auto stored = read_typed(group, name);
    return {reinterpret_cast<const char*>(stored.bytes.data()), stored.bytes.size()};
}

bool names_dataset(const std::string& name) {
    return name.find(":/") != std::string::npos;
}

Rows open_rows(const std::string& name) try {
    const auto colon = name.rfind(":/");
    if (!names_dataset(name))
        throw base::OptionError(
            fmt::format("{} does not name a dataset; write FILE:/DATASET", name));
    const std::string file = name.substr(0, colon);
    const std::lock_guard lock(library_mutex());
    if (!is_hdf5(file))
        throw base::DataError(fmt::format("{} is not an HDF5 file; check the name", file));
    const auto opened = std::make_shared<const File>(File::open_to_read(file));
    // With this cache, consecutive rows of one chunk are decompressed once.
    constexpr std::size_t kCacheBytes = std::size_t{64} << 20U;
    const Id access = own<H5Pcreate>(name, H5P_DATASET_ACCESS);
    check<H5Pset_chunk_cache>(name, access.get(), kChunkSlots, kCacheBytes, 0.75);
    const auto dataset = std::make_shared<const Object>(
        own<H5Dopen2>(name, opened->root().id(), name.c_str() + colon + 1, access.get()), name);
    const auto extents = shape_of(*dataset);
    const std::vector<std::int64_t> shape(extents.begin(), extents.end());
    return {name, shape, type_of(*dataset),
            [opened, dataset, shape](std::int64_t index, base::Element as, std::byte* to) {
                read_row(*dataset, shape, index, as, to);
            }};
} catch (const base::Hdf5Error& error) {
    throw base::DataError(fmt::format("{} is damaged or missing ({})", name, error.what()));
}

}  // namespace ranklab::hdf5
