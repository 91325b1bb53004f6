#include "hdf5/typed_array.hpp"

#include <fmt/format.h>

#include <array>

#include "base/error.hpp"
#include "hdf5/array.hpp"
#include "hdf5/check.hpp"
#include "hdf5/layout.hpp"

namespace ranklab::hdf5 {
namespace {

constexpr std::size_t kMostDimensions = 8;

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
        default:
            break;
    }
    throw base::Error("internal: an element type that HDF5 files of ours do not have");
}

}  // namespace

std::uint64_t write_typed(const Group& group, const std::string& name, const TypedArray& array) {
    const std::string path = group.path_of(name);
    const auto shape = sizes(array.shape);
    if (shape.size() > kMostDimensions || bytes_of(shape, size_of(array.element)) != array.bytes.size())
        throw base::Error(fmt::format("{}: {} bytes are not what its shape says", path, array.bytes.size()));
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
