#include "hdf5/volume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <numeric>

#include "base/error.hpp"
#include "base/progress.hpp"
#include "hdf5/check.hpp"
#include "hdf5/layout.hpp"
#include "hdf5/mpi_io.hpp"

namespace ranklab::hdf5 {

namespace {

constexpr hsize_t kAlignment = 4096;  // of a page, so that chunks share none
constexpr hsize_t kAlignFrom = 4096;  // smaller objects (headers, B-trees) stay together

Id access_properties(const void* mpi, bool parallel) {
    Id access = file_access();
    check<H5Pset_libver_bounds>("file access", access.get(), H5F_LIBVER_V18, H5F_LIBVER_V110);
    check<H5Pset_alignment>("file access", access.get(), kAlignFrom, kAlignment);
    // The chunk cache gathers rows of a chunk. In HDF5's default of 1 MiB no chunk fits, and each
    // row is a separate write. Collective writes bypass the cache.
    check<H5Pset_cache>("file access", access.get(), 0, kChunkSlots, kChunkCache, 0.75);
    if (parallel) use_mpi_io(access, {.mpi = mpi, .collective_opening = false});
    return access;
}

Id creation_properties(const VolumeShape& shape, std::int64_t chunk_edge) {
    Id properties = plain_dataset();
    check<H5Pset_alloc_time>("a dataset", properties.get(), H5D_ALLOC_TIME_EARLY);
    if (chunk_edge == 0) return properties;
    std::vector<hsize_t> chunk = sizes(shape);
    for (std::size_t axis = 1; axis < 4; ++axis)
        chunk[axis] = std::min<hsize_t>(chunk_edge, chunk[axis]);
    set_chunk(properties, chunk);
    return properties;
}

HyperSlab slab_of(const Object& dataset, const VolumePart& part) {
    HyperSlab slab{
        sizes(std::array{part.first_channel, part.first_plane, std::int64_t{0}, std::int64_t{0}}),
        shape_of(dataset)};
    slab.count[0] = part.channels;
    slab.count[1] = part.planes;
    return slab;
}

}  // namespace

VolumeWriter::VolumeWriter(const std::filesystem::path& path, const void* mpi)
    : path_(path.string()), parallel_(several_ranks(mpi)) {
    const Id access = access_properties(mpi, parallel_);
    file_ = own<H5Fcreate>(path_, path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get());
    if (parallel_) transfer_ = mpi_transfer(Requested::collective);
}

void VolumeWriter::make(const std::string& name, const VolumeShape& shape,
                        std::int64_t chunk_edge) {
    datasets_.emplace(name, create_dataset(file_.get(), name, path_ + "/" + name, H5T_NATIVE_FLOAT,
                                           sizes(shape), creation_properties(shape, chunk_edge)));
}

void VolumeWriter::write(const std::string& name, const VolumePart& part,
                         std::span<const float> values) {
    const Object& dataset = datasets_.at(name);
    write_slab(dataset, slab_of(dataset, part), H5T_NATIVE_FLOAT, values.data(), values.size(),
               parallel_ ? transfer_.get() : H5P_DEFAULT);
    base::count_progress();
}

void VolumeWriter::flush() {
    check<H5Fflush>(path_, file_.get(), H5F_SCOPE_GLOBAL);
}

void VolumeWriter::close() {
    datasets_.clear();
    check<H5Fclose>(path_, file_.release());
}

namespace {

constexpr std::int64_t kMostChunks = 16384;

bool equal(hid_t a, hid_t b, const std::string& what) {
    return check<H5Tequal>(what, a, b) > 0;
}

// With a user block HDF5's functions and versions disagree on where addresses start.
bool has_user_block(const Object& dataset) {
    const std::string& what = dataset.path();
    const Id file = own<H5Iget_file_id>(what, dataset.id());
    const Id properties = own<H5Fget_create_plist>(what, file.get());
    hsize_t bytes = 0;
    check<H5Pget_userblock>(what, properties.get(), &bytes);
    return bytes > 0;
}

[[noreturn]] void fail_unwritten(const std::string& what) {
    throw base::DataError(fmt::format("parts of {} were never written; make the file again", what));
}

// Fills place.chunk and place.offsets. Returns why the place is indirect, or "".
std::string find_contiguous(const Object& dataset, DatasetPlace& place) {
    const haddr_t offset = H5Dget_offset(dataset.id());
    if (std::count(place.shape.begin(), place.shape.end(), 0) > 0) return "it holds no numbers";
    if (offset == HADDR_UNDEF) fail_unwritten(dataset.path());
    place.chunk = place.shape;
    place.offsets = {offset};
    return "";
}

std::vector<hsize_t> first_of_chunk(std::int64_t i, const std::vector<std::int64_t>& grid,
                                    const std::vector<hsize_t>& chunk) {
    std::vector<hsize_t> first(grid.size());
    for (std::size_t d = grid.size(); d-- > 0; i /= grid[d])
        first[d] = static_cast<hsize_t>(i % grid[d]) * chunk[d];
    return first;
}

std::string find_chunks(const Object& dataset, const Id& properties, DatasetPlace& place) {
    const std::string& what = dataset.path();
    const bool filtered = check<H5Pget_nfilters>(what, properties.get()) > 0;
    std::vector<hsize_t> chunk(place.shape.size());
    check<H5Pget_chunk>(what, properties.get(), static_cast<int>(chunk.size()), chunk.data());
    place.chunk.assign(chunk.begin(), chunk.end());
    const auto grid = place.grid();
    std::int64_t chunks = 1;
    for (const std::int64_t along : grid) {
        if (along > kMostChunks || (chunks *= along) > kMostChunks)
            return fmt::format("it has more than {} chunks", kMostChunks);
    }
    for (std::int64_t i = 0; i < chunks; ++i) {
        const auto start = first_of_chunk(i, grid, chunk);
        unsigned skipped_filters = 0;
        haddr_t offset = HADDR_UNDEF;
        hsize_t bytes = 0;
        check<H5Dget_chunk_info_by_coord>(what, dataset.id(), start.data(), &skipped_filters,
                                          &offset, &bytes);
        if (offset == HADDR_UNDEF) fail_unwritten(what);
        place.offsets.push_back(offset);
    }
    return filtered ? "it is compressed or filtered" : "";
}

std::string find(const Object& dataset, DatasetPlace& place) {
    const std::string& what = dataset.path();
    const Id properties = own<H5Dget_create_plist>(what, dataset.id());
    const Id type = own<H5Dget_type>(what, dataset.id());
    const auto layout = check<H5Pget_layout>(what, properties.get());
    std::string indirect = "it is neither contiguous nor chunked";
    if (layout == H5D_CONTIGUOUS) indirect = find_contiguous(dataset, place);
    if (layout == H5D_CHUNKED) indirect = find_chunks(dataset, properties, place);
    if (!equal(type.get(), H5T_NATIVE_FLOAT, what))
        return "its numbers are not float32 of this machine's byte order";
    return has_user_block(dataset) ? "the file has a user block" : indirect;
}

}  // namespace

std::vector<std::int64_t> DatasetPlace::grid() const {
    std::vector<std::int64_t> grid(shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d) grid[d] = (shape[d] + chunk[d] - 1) / chunk[d];
    return grid;
}

std::uint64_t DatasetPlace::end() const {
    const std::uint64_t last = offsets.empty() ? 0 : std::ranges::max(offsets);
    return last +
           std::accumulate(chunk.begin(), chunk.end(), std::uint64_t{4}, std::multiplies<>());
}

DatasetPlace place_of(const Object& dataset) {
    const std::lock_guard lock(library_mutex());
    const std::string& what = dataset.path();
    DatasetPlace place;
    const auto shape = shape_of(dataset);
    place.shape.assign(shape.begin(), shape.end());
    place.chunk = place.shape;
    const Id type = own<H5Dget_type>(what, dataset.id());
    place.is_float32 =
        equal(type.get(), H5T_IEEE_F32LE, what) || equal(type.get(), H5T_IEEE_F32BE, what);
    place.indirect = find(dataset, place);
    if (!place.direct()) place.offsets.clear();
    return place;
}

Volume Volume::open(const Group& group, const std::string& name, const std::string& title) {
    Object object(open_dataset_inside(group.id(), name, title), title);
    DatasetPlace place = place_of(object);
    return {std::move(object), std::move(place)};
}

void Volume::read(const VolumePart& part, std::span<float> values) const {
    const std::lock_guard lock(library_mutex());
    const auto slab = slab_of(object_, part);
    if (bytes_of(slab.count, 1) != values.size())
        throw base::Error("internal: the memory for a part of a volume has another size");
    // The file was opened and examined before: what cannot be decompressed now is damaged.
    if (!read_slab(object_, slab, H5T_NATIVE_FLOAT, values.data()))
        throw base::DataError(fmt::format(
            "{} cannot be read: its file is damaged or truncated; copy or make it again "
            "({})",
            object_.path(), library_text()));
}

}  // namespace ranklab::hdf5
