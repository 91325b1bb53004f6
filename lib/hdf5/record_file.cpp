#include "hdf5/record_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/motion.hpp"
#include "hdf5/check.hpp"
#include "hdf5/cut_off.hpp"
#include "hdf5/mpi_io.hpp"

namespace ranklab::hdf5 {
namespace {

constexpr const char* kGroup = "output";
constexpr const char* kOption = "--directory";

Id access_properties(const RecordFileOptions& options) {
    initialise();
    Id access = own(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate", "file access");
    const auto oldest = options.latest_format ? H5F_LIBVER_LATEST : H5F_LIBVER_EARLIEST;
    check(H5Pset_libver_bounds(access.get(), oldest, H5F_LIBVER_LATEST), "H5Pset_libver_bounds",
          "file access");
    check(H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG), "H5Pset_fclose_degree", "file access");
    check(H5Pset_file_locking(access.get(), false, true), "H5Pset_file_locking", "file access");
    if (options.alignment > 1)
        check(H5Pset_alignment(access.get(), options.alignment, options.alignment), "H5Pset_alignment",
              "file access");
    if (options.mpi != nullptr) use_mpi_io(access, options);
    return access;
}

// Writing `bytes` failed.
[[noreturn]] void rethrow_of_place(const base::Hdf5Error& error, const std::string& path,
                                   std::uint64_t bytes) {
    if (!there_is_no_room(error.what(), path, bytes)) throw error;
    throw base::EnvironmentError(
        fmt::format("{}: there is no room for it; free some space or name another place with {} ({})", path,
                    kOption, error.what()));
}

std::vector<hsize_t> sizes(std::span<const std::int64_t> numbers) {
    return {numbers.begin(), numbers.end()};
}

bool is_empty(std::span<const std::int64_t> count) {
    return std::find(count.begin(), count.end(), 0) != count.end();
}

// The box in the file, and a memory space of as many values.
std::pair<Id, Id> select(const Object& dataset, const Box& box) {
    const std::string& what = dataset.path();
    Id space = own(H5Dget_space(dataset.id()), "H5Dget_space", what);
    Id memory = own(H5Screate_simple(static_cast<int>(box.count.size()), sizes(box.count).data(), nullptr),
                    "H5Screate_simple", what);
    if (is_empty(box.count)) {
        check(H5Sselect_none(space.get()), "H5Sselect_none", what);
        check(H5Sselect_none(memory.get()), "H5Sselect_none", what);
    } else {
        check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, sizes(box.start).data(), nullptr,
                                  sizes(box.count).data(), nullptr),
              "H5Sselect_hyperslab", what);
    }
    return {std::move(space), std::move(memory)};
}

// HDF5 hands its bytes to the system alone, also through MPI-IO.
void sync_to_device(const std::string& path) {
    const base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file || ::fsync(file.get()) != 0) base::throw_errno("fsync", path, errno, kOption);
}

}  // namespace

RecordFile::RecordFile(const std::filesystem::path& path, const RecordFileOptions& options)
    : path_(path.string()),
      parallel_(options.mpi != nullptr),
      early_allocation_(options.early_allocation),
      fill_(options.fill) {
    open_file(options);
    if (parallel_) {
        independent_ = mpi_transfer(Requested::independent);
        collective_ = mpi_transfer(Requested::collective);
        mpi_io_ = describe_mpi_io(file_, path_);
    }
    group_ = own(H5Gcreate2(file_.get(), kGroup, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "H5Gcreate2", path_);
}

void RecordFile::open_file(const RecordFileOptions& options) try {
    const base::Waiting waiting(parallel_);
    const Id access = access_properties(options);
    file_ = own(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), "H5Fcreate", path_);
    identity_ = identity_of(path_);
} catch (const base::Hdf5Error& error) {
    rethrow_of_place(error, path_, 1);
}

RecordFile::~RecordFile() {
    if (!file_) return;
    cut_off(identity_);
    if (!parallel_) return;
    static_cast<void>(group_.release());
    static_cast<void>(file_.release());
}

void RecordFile::make(const std::string& name, std::span<const std::int64_t> shape,
                      std::span<const std::int64_t> chunk) {
    const Id space = own(H5Screate_simple(static_cast<int>(shape.size()), sizes(shape).data(), nullptr),
                         "H5Screate_simple", name);
    const Id properties = own(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate", name);
    // The same bytes at every run, and, through MPI-IO, no header that a rank's own writing changes.
    check(H5Pset_obj_track_times(properties.get(), false), "H5Pset_obj_track_times", name);
    check(H5Pset_alloc_time(properties.get(), early_allocation_ ? H5D_ALLOC_TIME_EARLY : H5D_ALLOC_TIME_LATE),
          "H5Pset_alloc_time", name);
    check(H5Pset_fill_time(properties.get(), fill_ ? H5D_FILL_TIME_ALLOC : H5D_FILL_TIME_NEVER),
          "H5Pset_fill_time", name);
    if (!chunk.empty() && !is_empty(shape)) {
        std::vector<hsize_t> edges = sizes(chunk);
        for (std::size_t d = 0; d < edges.size(); ++d)
            edges[d] = std::min(edges[d], static_cast<hsize_t>(shape[d]));
        check(H5Pset_chunk(properties.get(), static_cast<int>(edges.size()), edges.data()), "H5Pset_chunk",
              name);
    }
    const base::Waiting waiting(parallel_);
    try {
        const Id made = own(H5Dcreate2(group_.get(), name.c_str(), H5T_IEEE_F64LE, space.get(), H5P_DEFAULT,
                                       properties.get(), H5P_DEFAULT),
                            "H5Dcreate2", name);
    } catch (const base::Hdf5Error& error) {
        rethrow_of_place(error, path_, 1);
    }
}

Object RecordFile::open(const std::string& name) const {
    const std::string path = fmt::format("/{}/{}", kGroup, name);
    const base::Waiting waiting(parallel_);
    return {own(H5Dopen2(group_.get(), name.c_str(), H5P_DEFAULT), "H5Dopen2", path), path};
}

void RecordFile::write(const Object& dataset, const Box& box, std::span<const double> values,
                       Requested requested) {
    const auto [space, memory] = select(dataset, box);
    const auto selected = check(H5Sget_select_npoints(space.get()), "H5Sget_select_npoints", dataset.path());
    if (static_cast<std::size_t>(selected) != values.size())
        throw base::Error(fmt::format("internal: {} values for the {} of a box of {}", values.size(),
                                      selected, dataset.path()));
    const Id& transfer = requested == Requested::collective ? collective_ : independent_;
    const base::Waiting waiting(parallel_);
    try {
        check(H5Dwrite(dataset.id(), H5T_NATIVE_DOUBLE, memory.get(), space.get(),
                       parallel_ ? transfer.get() : H5P_DEFAULT, values.data()),
              "H5Dwrite", path_ + dataset.path());
    } catch (const base::Hdf5Error& error) {
        rethrow_of_place(error, path_, values.size_bytes());
    }
    if (parallel_) ++transfers_[outcome_of(transfer, requested)];
}

void RecordFile::sync() {
    sync_to_device(path_);
}

void RecordFile::close() try {
    const base::Waiting waiting(parallel_);
    // A flush may fail; a close that does leaves the library broken. Through MPI-IO a flush would wait for
    // the device.
    if (!parallel_) check(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), "H5Fflush", path_);
    check(H5Gclose(group_.release()), "H5Gclose", path_);
    check(H5Fclose(file_.release()), "H5Fclose", path_);
} catch (const base::Hdf5Error& error) {
    rethrow_of_place(error, path_, 1);
}

}  // namespace ranklab::hdf5
