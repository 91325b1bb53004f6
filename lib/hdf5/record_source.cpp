#include "hdf5/record_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "hdf5/layout.hpp"

namespace ranklab::hdf5 {
namespace {

[[noreturn]] void damaged(const std::string& path, const std::string& what) {
    throw base::DataError(fmt::format("{} {}; it is not as it was written", path, what));
}

bool is_float64(const Object& dataset) {
    const Id type = own<H5Dget_type>(dataset.path(), dataset.id());
    return check<H5Tequal>(dataset.path(), type.get(), H5T_IEEE_F64LE) > 0;
}

Id open_file(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        if (errno == ENOENT) damaged(path, "is not there");
        base::throw_read_errno("stat", path, errno, "directory");
    }
    base::refuse_irregular<base::DataError>(path);
    Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, file_access().get()));
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
    if (const auto found = shape_of(dataset); found != sizes(shape))
        damaged(path_, fmt::format("has {} as [{}], not {}", within, fmt::join(found, ", "),
                                   base::shape_text(shape)));
    if (!is_float64(dataset)) damaged(path_, fmt::format("has no float64 in {}", within));
    return dataset;
}

void RecordSource::read(const Object& dataset, std::span<double> values) const {
    read_part(dataset, H5S_ALL, H5S_ALL, values);
}

void RecordSource::read_plane(const Object& dataset, std::int64_t index, std::span<double> values) const {
    auto count = shape_of(dataset);
    count[0] = 1;
    const Id space = select_box(dataset, sizes(std::array{index, std::int64_t{0}, std::int64_t{0}}), count);
    read_part(dataset, space_of(count, dataset.path()).get(), space.get(), values);
}

void RecordSource::read_part(const Object& dataset, Id::type memory, Id::type space,
                             std::span<double> values) const {
    if (H5Dread(dataset.id(), H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values.data()) < 0)
        damaged(path_, fmt::format("cannot be read at {} ({})", dataset.path(), library_text()));
}

}  // namespace ranklab::hdf5
