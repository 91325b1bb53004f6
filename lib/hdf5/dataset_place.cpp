#include "hdf5/array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <numeric>

#include "base/error.hpp"
#include "hdf5/layout.hpp"

namespace ranklab::hdf5 {

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

// Fills place.chunk and place.offsets. Returns why only HDF5 can read the values, or "".
std::string find_contiguous(const Object& dataset, DatasetPlace& place) {
    const haddr_t offset = H5Dget_offset(dataset.id());
    if (std::count(place.shape.begin(), place.shape.end(), 0) > 0)
        return "the dataset holds no numbers";
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
            return fmt::format("the dataset has more than {} chunks", kMostChunks);
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
    return filtered ? "the dataset is compressed or filtered" : "";
}

std::string find(const Object& dataset, DatasetPlace& place) {
    refuse_other_files(dataset);
    const std::string& what = dataset.path();
    const Id properties = own<H5Dget_create_plist>(what, dataset.id());
    const Id type = own<H5Dget_type>(what, dataset.id());
    const auto layout = check<H5Pget_layout>(what, properties.get());
    std::string indirect = "the dataset is neither contiguous nor chunked";
    if (layout == H5D_CONTIGUOUS) indirect = find_contiguous(dataset, place);
    if (layout == H5D_CHUNKED) indirect = find_chunks(dataset, properties, place);
    if (!equal(type.get(), H5T_NATIVE_FLOAT, what))
        return "the dataset's numbers are not float32 of this machine's byte order";
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

}  // namespace ranklab::hdf5
