#include "hdf5/volume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <numeric>

#include "base/error.hpp"
#include "hdf5/check.hpp"
#include "hdf5/layout.hpp"

namespace ranklab::hdf5 {
namespace {

constexpr std::int64_t kMostChunks = 16384;
constexpr std::size_t kMostDimensions = 8;

std::vector<std::int64_t> array_shape_of(const Object& dataset) {
    const std::string& what = dataset.path();
    const auto shape = shape_of(dataset);
    if (shape.empty() || shape.size() > kMostDimensions)
        throw base::DataError(fmt::format("{} is no array of one to {} dimensions", what, kMostDimensions));
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

std::string type_of(hid_t dataset, const std::string& what) {
    const Id type = own<H5Dget_type>(what, dataset);
    const auto kind = check<H5Tget_class>(what, type.get());
    if (kind != H5T_FLOAT && kind != H5T_INTEGER) return "no number";
    const auto bits = H5Tget_size(type.get()) * 8;
    const bool foreign = H5Tget_order(type.get()) == H5T_ORDER_BE && bits > 8;
    return fmt::format("{}{}{}", kind == H5T_FLOAT ? "float" : "int", bits, foreign ? " big-endian" : "");
}

void read_layout(hid_t dataset, const std::string& what, VolumeInfo& info) {
    const Id properties = own<H5Dget_create_plist>(what, dataset);
    info.stored_bytes = H5Dget_storage_size(dataset);
    if (check<H5Pget_layout>(what, properties.get()) != H5D_CHUNKED) return;
    info.filtered = check<H5Pget_nfilters>(what, properties.get()) > 0;
    std::array<hsize_t, kMostDimensions + 1> chunk{};
    const int dimensions =
        check<H5Pget_chunk>(what, properties.get(), static_cast<int>(chunk.size()), chunk.data());
    info.chunk.assign(chunk.begin(), chunk.begin() + dimensions);
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

Volume Volume::open(const Group& group, const std::string& name) {
    const std::string path = group.path_of(name);
    Object object = open_dataset(group, name);
    VolumeInfo info;
    info.shape = place_of(object).shape;  // looks at each chunk
    info.type = type_of(object.id(), path);
    read_layout(object.id(), path, info);
    return {std::move(object), std::move(info)};
}

void Volume::read(const VolumePart& part, std::span<float> values) const {
    const std::array<std::int64_t, 4> start{part.first_channel, part.first_plane, 0, 0};
    const std::array<std::int64_t, 4> count{part.channels, part.planes, info_.shape.at(2), info_.shape.at(3)};
    const std::int64_t selected = count[0] * count[1] * count[2] * count[3];
    if (selected != std::ssize(values))
        throw base::Error(fmt::format("internal: room for {} values of {}, a part has {}", values.size(),
                                      object_.path(), selected));
    read_box(object_, start, count, values.data());
}

}  // namespace ranklab::hdf5
