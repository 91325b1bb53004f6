#include "hdf5/dataset_layout.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace ranklab::hdf5 {
namespace {

constexpr unsigned long long kMostInHeader = 2048;
constexpr unsigned long long kMostContiguous = 32768;
constexpr unsigned long long kChunkBytes = 262144;

// Chunks are whole rows, as many as make about kChunkBytes.
void set_chunks(const Id& properties, std::span<const hsize_t> shape, std::size_t element_bytes) {
    std::vector<hsize_t> chunk(shape.begin(), shape.end());
    const unsigned long long row_bytes = bytes_of(shape.subspan(1), element_bytes);
    chunk[0] = std::clamp<hsize_t>(kChunkBytes / row_bytes, 1, shape[0]);
    check(H5Pset_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data()), "H5Pset_chunk",
          "a dataset");
    check(H5Pset_shuffle(properties.get()), "H5Pset_shuffle", "a dataset");
    check(H5Pset_deflate(properties.get(), 4), "H5Pset_deflate", "a dataset");
}

}  // namespace

unsigned long long bytes_of(std::span<const hsize_t> shape, std::size_t element_bytes) {
    unsigned long long bytes = element_bytes;
    for (const hsize_t extent : shape) {
        if (extent != 0 && bytes > std::numeric_limits<unsigned long long>::max() / extent)
            return std::numeric_limits<unsigned long long>::max();
        bytes *= extent;
    }
    return bytes;
}

Id layout_for(std::span<const hsize_t> shape, std::size_t element_bytes) {
    Id properties = own(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate", "a dataset");
    check(H5Pset_obj_track_times(properties.get(), false), "H5Pset_obj_track_times", "a dataset");
    check(H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER), "H5Pset_fill_time", "a dataset");
    // Otherwise room for attributes is set aside in each header; those that get some grow by what they need.
    check(H5Pset_dset_no_attrs_hint(properties.get(), true), "H5Pset_dset_no_attrs_hint", "a dataset");
    const unsigned long long bytes = bytes_of(shape, element_bytes);
    if (bytes > kMostContiguous) {
        set_chunks(properties, shape, element_bytes);
    } else if (bytes > 0 && bytes <= kMostInHeader) {
        check(H5Pset_layout(properties.get(), H5D_COMPACT), "H5Pset_layout", "a dataset");
    }
    return properties;
}

}  // namespace ranklab::hdf5
