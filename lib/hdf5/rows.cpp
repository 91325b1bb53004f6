#include "hdf5/rows.hpp"

#include <fmt/format.h>

#include <memory>
#include <mutex>

#include "base/error.hpp"
#include "hdf5/check.hpp"
#include "hdf5/file.hpp"
#include "hdf5/layout.hpp"

namespace ranklab::hdf5 {
namespace {

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
