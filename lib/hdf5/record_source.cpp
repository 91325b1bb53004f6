#include "hdf5/record_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <cerrno>
#include <vector>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "hdf5/check.hpp"
#include "hdf5/inside.hpp"

namespace ranklab::hdf5 {
namespace {

[[noreturn]] void damaged(const std::string& path, const std::string& what) {
    throw base::DataError(fmt::format("{} {}; it is not as it was written", path, what));
}

std::vector<std::int64_t> shape_of(const Object& dataset) {
    const Id space = own(H5Dget_space(dataset.id()), "H5Dget_space", dataset.path());
    const int rank =
        check(H5Sget_simple_extent_ndims(space.get()), "H5Sget_simple_extent_ndims", dataset.path());
    std::vector<hsize_t> shape(static_cast<std::size_t>(rank));
    check(H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr), "H5Sget_simple_extent_dims",
          dataset.path());
    return {shape.begin(), shape.end()};
}

bool is_float64(const Object& dataset) {
    const Id type = own(H5Dget_type(dataset.id()), "H5Dget_type", dataset.path());
    return check(H5Tequal(type.get(), H5T_IEEE_F64LE), "H5Tequal", dataset.path()) > 0;
}

Id open_file(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        if (errno == ENOENT) damaged(path, "is not there");
        base::throw_errno("stat", path, errno, "--directory");
    }
    base::refuse_irregular<base::DataError>(path);
    initialise();
    const Id access = own(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate", "file access");
    check(H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG), "H5Pset_fclose_degree", "file access");
    check(H5Pset_file_locking(access.get(), false, true), "H5Pset_file_locking", "file access");
    Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()));
    if (!file) damaged(path, fmt::format("cannot be opened by HDF5 ({})", library_text()));
    return file;
}

}  // namespace

RecordSource::RecordSource(const std::filesystem::path& path)
    : path_(path.string()), file_(open_file(path_)) {}

Object RecordSource::open_within(const std::string& within) const try {
    return {open_dataset_inside(file_.get(), within, path_ + within), within};
} catch (const base::Hdf5Error& error) {
    damaged(path_, fmt::format("has no dataset {} ({})", within, error.what()));
}

Object RecordSource::open(const std::string& name, std::span<const std::int64_t> shape) const {
    const std::string within = "/output/" + name;
    Object dataset = open_within(within);
    const auto found = shape_of(dataset);
    if (!std::equal(found.begin(), found.end(), shape.begin(), shape.end()))
        damaged(path_, fmt::format("has {} as {}, not {}", within, base::shape_text(found),
                                   base::shape_text(shape)));
    if (!is_float64(dataset)) damaged(path_, fmt::format("has no float64 in {}", within));
    return dataset;
}

void RecordSource::read(const Object& dataset, std::span<double> values) const {
    if (H5Dread(dataset.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
        damaged(path_, fmt::format("cannot be read at {} ({})", dataset.path(), library_text()));
}

void RecordSource::read_plane(const Object& dataset, std::int64_t index, std::span<double> values) const {
    const auto shape = shape_of(dataset);
    const std::vector<hsize_t> start{static_cast<hsize_t>(index), 0, 0};
    const std::vector<hsize_t> count{1, static_cast<hsize_t>(shape[1]), static_cast<hsize_t>(shape[2])};
    const Id space = own(H5Dget_space(dataset.id()), "H5Dget_space", dataset.path());
    check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
          "H5Sselect_hyperslab", dataset.path());
    const Id memory = own(H5Screate_simple(3, count.data(), nullptr), "H5Screate_simple", dataset.path());
    if (H5Dread(dataset.id(), H5T_NATIVE_DOUBLE, memory.get(), space.get(), H5P_DEFAULT, values.data()) < 0)
        damaged(path_, fmt::format("cannot be read at {} ({})", dataset.path(), library_text()));
}

}  // namespace ranklab::hdf5
