#include "hdf5/dataset_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/error.hpp"
#include "hdf5/array.hpp"
#include "hdf5/check.hpp"
#include "hdf5/inside.hpp"
#include "hdf5/layout.hpp"
#include "hdf5/library_mutex.hpp"

namespace ranklab::hdf5 {
namespace {

constexpr std::int64_t kMostChunks = 16384;
constexpr std::size_t kMostDimensions = 8;

std::vector<std::int64_t> array_shape_of(const Object& dataset) {
    const std::string& what = dataset.path();
    const auto shape = shape_of(dataset);
    if (shape.empty() || shape.size() > kMostDimensions)
        throw base::DataError(fmt::format("{} is no array of one to {} dimensions", what, kMostDimensions));
    check_possible(dataset.id(), bytes_of(shape, 1), what);
    return {shape.begin(), shape.end()};
}

bool equal(hid_t a, hid_t b, const std::string& what) {
    return check<H5Tequal>(what, a, b) > 0;
}

// Whether addresses count from a user block's end differs among the library's functions and versions.
bool has_user_block(const Object& dataset) {
    const std::string& what = dataset.path();
    const Id file = own<H5Iget_file_id>(what, dataset.id());
    const Id properties = own<H5Fget_create_plist>(what, file.get());
    hsize_t bytes = 0;
    check<H5Pget_userblock>(what, properties.get(), &bytes);
    return bytes > 0;
}

[[noreturn]] void fail_unwritten(const std::string& what) {
    throw base::DataError(fmt::format(
        "parts of {} were never written, so their values are unknown: make the file again", what));
}

// Fills place.chunk and place.offsets, or says why not.
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

// HDF5 1.10 reads behind its own memory where the index says that a chunk is shorter than it has to be.
void check_size(hsize_t bytes, hsize_t wanted, const std::string& what) {
    if (bytes == wanted) return;
    throw base::DataError(fmt::format(
        "a chunk of {} has {} bytes where {} belong: the file is damaged or forged", what, bytes, wanted));
}

std::string find_chunks(const Object& dataset, const Id& properties, std::size_t element_bytes,
                        DatasetPlace& place) {
    const std::string& what = dataset.path();
    const bool filtered = check<H5Pget_nfilters>(what, properties.get()) > 0;
    std::vector<hsize_t> chunk(place.shape.size());
    check<H5Pget_chunk>(what, properties.get(), static_cast<int>(chunk.size()), chunk.data());
    place.chunk.assign(chunk.begin(), chunk.end());
    const auto grid = place.grid();
    std::int64_t chunks = 1;
    for (const std::int64_t along : grid) {
        if (along > kMostChunks || (chunks *= along) > kMostChunks)
            return fmt::format("it has more than {} chunks; larger ones are found quicker", kMostChunks);
    }
    for (std::int64_t i = 0; i < chunks; ++i) {
        const auto start = first_of_chunk(i, grid, chunk);
        unsigned skipped_filters = 0;
        haddr_t offset = HADDR_UNDEF;
        hsize_t bytes = 0;
        check<H5Dget_chunk_info_by_coord>(what, dataset.id(), start.data(), &skipped_filters, &offset,
                                          &bytes);
        if (offset == HADDR_UNDEF) fail_unwritten(what);
        if (!filtered) check_size(bytes, bytes_of(chunk, element_bytes), what);
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
    if (layout == H5D_CHUNKED) indirect = find_chunks(dataset, properties, H5Tget_size(type.get()), place);
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

std::uint64_t DatasetPlace::chunk_bytes() const {
    return std::accumulate(chunk.begin(), chunk.end(), std::uint64_t{4}, std::multiplies<>());
}

std::uint64_t DatasetPlace::end() const {
    const std::uint64_t last = offsets.empty() ? 0 : *std::max_element(offsets.begin(), offsets.end());
    return last + chunk_bytes();
}

DatasetPlace place_of(const Group& group, const std::string& name) {
    const std::lock_guard lock(library_mutex());
    return place_of(open_dataset(group, name));
}

DatasetPlace place_of(const Object& dataset) {
    const std::lock_guard lock(library_mutex());
    const std::string& what = dataset.path();
    DatasetPlace place;
    place.shape = array_shape_of(dataset);
    place.chunk = place.shape;
    const Id type = own<H5Dget_type>(what, dataset.id());
    place.is_float32 = equal(type.get(), H5T_IEEE_F32LE, what) || equal(type.get(), H5T_IEEE_F32BE, what);
    place.indirect = find(dataset, place);
    if (!place.direct()) place.offsets.clear();
    return place;
}

Object open_for_boxes(const Group& group, const std::string& name, std::uint64_t cache_bytes) {
    const std::lock_guard lock(library_mutex());
    constexpr std::size_t kSlots = 10007;  // a prime, many times the chunks that fit
    const std::string path = group.path_of(name);
    const Id access = own<H5Pcreate>(path, H5P_DATASET_ACCESS);
    check<H5Pset_chunk_cache>(path, access.get(), kSlots, cache_bytes, H5D_CHUNK_CACHE_W0_DEFAULT);
    return {open_dataset_inside(group.id(), name, path, access.get()), path};
}

void check_all_held(const Object& dataset, const DatasetPlace& place) {
    const std::lock_guard lock(library_mutex());
    check_held(dataset.id(), bytes_of(sizes(place.shape), sizeof(float)), dataset.path());
}

void read_box(const Object& dataset, std::span<const std::int64_t> start, std::span<const std::int64_t> count,
              float* out) {
    const std::lock_guard lock(library_mutex());
    const std::string& what = dataset.path();
    const auto size = sizes(count);
    const Id space = select_box(dataset, sizes(start), size);
    const Id memory = space_of(size, what);
    // The file was opened and looked over: what cannot be unpacked now is damaged.
    if (H5Dread(dataset.id(), H5T_NATIVE_FLOAT, memory.get(), space.get(), H5P_DEFAULT, out) < 0)
        throw base::DataError(
            fmt::format("{} cannot be read: its file is damaged or was cut short; copy or make it again ({})",
                        what, library_text()));
}

}  // namespace ranklab::hdf5
