#include "hdf5/volume_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/motion.hpp"
#include "hdf5/check.hpp"

namespace ranklab::hdf5 {
namespace {

constexpr hsize_t kAlignment = 4096;  // a page: a chunk read by itself touches no page of another
constexpr std::size_t kChunkCache = std::size_t{64} << 20U;
constexpr std::size_t kChunkSlots = 12421;  // a prime, far above the number of chunks that fit
constexpr hsize_t kAlignFrom = 4096;        // smaller things (headers, B-trees) stay together

#ifdef H5_HAVE_PARALLEL
int ranks_of(const void* mpi) {
    int ranks = 1;
    MPI_Comm_size(*static_cast<const MPI_Comm*>(mpi), &ranks);
    return ranks;
}
void use_mpi(const Id& access, const void* mpi) {
    check(H5Pset_fapl_mpio(access.get(), *static_cast<const MPI_Comm*>(mpi), MPI_INFO_NULL),
          "H5Pset_fapl_mpio", "file access");
    check(H5Pset_coll_metadata_write(access.get(), true), "H5Pset_coll_metadata_write", "file access");
}
void use_collective(const Id& transfer) {
    check(H5Pset_dxpl_mpio(transfer.get(), H5FD_MPIO_COLLECTIVE), "H5Pset_dxpl_mpio", "a transfer");
}
bool was_collective(const Id& transfer) {
    H5D_mpio_actual_io_mode_t mode = H5D_MPIO_NO_COLLECTIVE;
    check(H5Pget_mpio_actual_io_mode(transfer.get(), &mode), "H5Pget_mpio_actual_io_mode", "a transfer");
    return mode != H5D_MPIO_NO_COLLECTIVE;
}
#else
void use_mpi(const Id&, const void*) {
    throw base::EnvironmentError(
        "this ranklab was built on an HDF5 without MPI, which writes from one rank only; start one rank, or "
        "build it on a parallel HDF5 (libhdf5-openmpi-dev)");
}
void use_collective(const Id&) {}
bool was_collective(const Id&) {
    return true;
}
#endif

// One rank needs no MPI-IO: what it writes is the same.
bool several_ranks(const void* mpi) {
#ifdef H5_HAVE_PARALLEL
    return mpi != nullptr && ranks_of(mpi) > 1;
#else
    return mpi != nullptr;
#endif
}

Id access_properties(const void* mpi, bool parallel) {
    initialise();
    Id access = own(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate", "file access");
    check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V110), "H5Pset_libver_bounds",
          "file access");
    check(H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG), "H5Pset_fclose_degree", "file access");
    check(H5Pset_file_locking(access.get(), false, true), "H5Pset_file_locking", "file access");
    check(H5Pset_alignment(access.get(), kAlignFrom, kAlignment), "H5Pset_alignment", "file access");
    // A channel's part of a chunk is gathered in the cache: without room for chunks (1 MiB is the default)
    // each row of it would be a write of its own. Collective writes pass the cache by.
    check(H5Pset_cache(access.get(), 0, kChunkSlots, kChunkCache, 0.75), "H5Pset_cache", "file access");
    if (parallel) use_mpi(access, mpi);
    return access;
}

Id creation_properties(const VolumeShape& shape, std::int64_t chunk_edge) {
    Id properties = own(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate", "a dataset");
    check(H5Pset_obj_track_times(properties.get(), false), "H5Pset_obj_track_times", "a dataset");
    check(H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_EARLY), "H5Pset_alloc_time", "a dataset");
    check(H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER), "H5Pset_fill_time", "a dataset");
    if (chunk_edge == 0) return properties;
    std::array<hsize_t, 4> chunk{static_cast<hsize_t>(shape[0])};
    for (std::size_t axis = 1; axis < 4; ++axis)
        chunk[axis] = static_cast<hsize_t>(std::min(chunk_edge, shape[axis]));
    check(H5Pset_chunk(properties.get(), 4, chunk.data()), "H5Pset_chunk", "a dataset");
    return properties;
}

Id select(const Object& dataset, const VolumePart& part) {
    Id space = own(H5Dget_space(dataset.id()), "H5Dget_space", dataset.path());
    if (part.planes == 0) {
        check(H5Sselect_none(space.get()), "H5Sselect_none", dataset.path());
        return space;
    }
    std::array<hsize_t, 4> count{};
    check(H5Sget_simple_extent_dims(space.get(), count.data(), nullptr), "H5Sget_simple_extent_dims",
          dataset.path());
    count[0] = static_cast<hsize_t>(part.channels);
    count[1] = static_cast<hsize_t>(part.planes);
    const std::array<hsize_t, 4> start{static_cast<hsize_t>(part.first_channel),
                                       static_cast<hsize_t>(part.first_plane), 0, 0};
    check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
          "H5Sselect_hyperslab", dataset.path());
    return space;
}

}  // namespace

VolumeWriter::VolumeWriter(const std::filesystem::path& path, const void* mpi)
    : path_(path.string()), parallel_(several_ranks(mpi)) {
    const Id access = access_properties(mpi, parallel_);
    const base::Waiting waiting(parallel_);
    file_ = own(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), "H5Fcreate", path_);
    transfer_ = own(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate", "a transfer");
    if (parallel_) use_collective(transfer_);
}

void VolumeWriter::make(const std::string& name, const VolumeShape& shape, std::int64_t chunk_edge) {
    std::array<hsize_t, 4> extents{};
    std::copy(shape.begin(), shape.end(), extents.begin());
    const Id space = own(H5Screate_simple(4, extents.data(), nullptr), "H5Screate_simple", name);
    const Id properties = creation_properties(shape, chunk_edge);
    const base::Waiting waiting(parallel_);
    datasets_.emplace(name, Object(own(H5Dcreate2(file_.get(), name.c_str(), H5T_NATIVE_FLOAT, space.get(),
                                                  H5P_DEFAULT, properties.get(), H5P_DEFAULT),
                                       "H5Dcreate2", name),
                                   "/" + name));
}

void VolumeWriter::write(const std::string& name, const VolumePart& part, std::span<const float> values) {
    const Object& dataset = datasets_.at(name);
    const Id space = select(dataset, part);
    const auto selected = static_cast<hsize_t>(
        check(H5Sget_select_npoints(space.get()), "H5Sget_select_npoints", dataset.path()));
    if (selected != values.size())
        throw base::Error(fmt::format("internal: {} values for the {} of a part of {}", values.size(),
                                      selected, dataset.path()));
    const Id memory = own(H5Screate_simple(1, &selected, nullptr), "H5Screate_simple", dataset.path());
    if (selected == 0) check(H5Sselect_none(memory.get()), "H5Sselect_none", dataset.path());
    const base::Waiting waiting(parallel_);
    check(H5Dwrite(dataset.id(), H5T_NATIVE_FLOAT, memory.get(), space.get(), transfer_.get(), values.data()),
          "H5Dwrite", path_ + dataset.path());
    if (parallel_) last_was_collective_ = was_collective(transfer_);
}

void VolumeWriter::flush() {
    const base::Waiting waiting(parallel_);
    check(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), "H5Fflush", path_);
}

void VolumeWriter::close() {
    const base::Waiting waiting(parallel_);
    datasets_.clear();
    check(H5Fclose(file_.release()), "H5Fclose", path_);
}

}  // namespace ranklab::hdf5
