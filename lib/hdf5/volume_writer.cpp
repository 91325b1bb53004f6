#include "hdf5/volume_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/progress.hpp"
#include "hdf5/layout.hpp"
#include "hdf5/mpi_io.hpp"

namespace ranklab::hdf5 {
namespace {

constexpr hsize_t kAlignment = 4096;  // a page: a chunk read by itself touches no page of another
constexpr std::size_t kChunkCache = std::size_t{64} << 20U;
constexpr std::size_t kChunkSlots = 12421;  // a prime, far above the number of chunks that fit
constexpr hsize_t kAlignFrom = 4096;        // smaller things (headers, B-trees) stay together

Id access_properties(const void* mpi, bool parallel) {
    Id access = file_access();
    check<H5Pset_libver_bounds>("file access", access.get(), H5F_LIBVER_V18, H5F_LIBVER_V110);
    check<H5Pset_alignment>("file access", access.get(), kAlignFrom, kAlignment);
    // A channel's part of a chunk is gathered in the cache: without room for chunks (1 MiB is the default)
    // each row of it would be a write of its own. Collective writes pass the cache by.
    check<H5Pset_cache>("file access", access.get(), 0, kChunkSlots, kChunkCache, 0.75);
    if (parallel) use_mpi_io(access, {.mpi = mpi, .collective_opening = false});
    return access;
}

Id creation_properties(const VolumeShape& shape, std::int64_t chunk_edge) {
    Id properties = plain_dataset();
    check<H5Pset_alloc_time>("a dataset", properties.get(), H5D_ALLOC_TIME_EARLY);
    if (chunk_edge == 0) return properties;
    std::vector<hsize_t> chunk = sizes(shape);
    for (std::size_t axis = 1; axis < 4; ++axis) chunk[axis] = std::min<hsize_t>(chunk_edge, chunk[axis]);
    set_chunk(properties, chunk);
    return properties;
}

Id select(const Object& dataset, const VolumePart& part) {
    std::vector<hsize_t> count = shape_of(dataset);
    count[0] = part.channels;
    count[1] = part.planes;
    return select_box(dataset, sizes(std::array<std::int64_t, 4>{part.first_channel, part.first_plane}),
                      count);
}

}  // namespace

VolumeWriter::VolumeWriter(const std::filesystem::path& path, const void* mpi)
    : path_(path.string()), parallel_(several_ranks(mpi)) {
    const Id access = access_properties(mpi, parallel_);
    file_ = own<H5Fcreate>(path_, path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get());
    if (parallel_) transfer_ = mpi_transfer(Requested::collective);
}

void VolumeWriter::make(const std::string& name, const VolumeShape& shape, std::int64_t chunk_edge) {
    const Id space = space_of(sizes(shape), name);
    const Id properties = creation_properties(shape, chunk_edge);
    datasets_.emplace(name, Object(own<H5Dcreate2>(name, file_.get(), name.c_str(), H5T_NATIVE_FLOAT,
                                                   space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
                                   "/" + name));
}

void VolumeWriter::write(const std::string& name, const VolumePart& part, std::span<const float> values) {
    const Object& dataset = datasets_.at(name);
    const Id space = select(dataset, part);
    check_count(space, dataset, values.size());
    const Id memory = space_of(std::array<hsize_t, 1>{values.size()}, dataset.path());
    check<H5Dwrite>(path_ + dataset.path(), dataset.id(), H5T_NATIVE_FLOAT, memory.get(), space.get(),
                    parallel_ ? transfer_.get() : H5P_DEFAULT, values.data());
    base::count_progress();
    if (parallel_) last_was_collective_ = outcome_of(transfer_, Requested::collective).io_mode != 0;
}

void VolumeWriter::flush() {
    check<H5Fflush>(path_, file_.get(), H5F_SCOPE_GLOBAL);
}

void VolumeWriter::close() {
    datasets_.clear();
    check<H5Fclose>(path_, file_.release());
}

}  // namespace ranklab::hdf5
