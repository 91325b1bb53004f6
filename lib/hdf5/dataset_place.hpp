// Where a dataset's numbers lie in its file, for readers that take them from there without the library: it
// knows one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hdf5/group.hpp"

namespace ranklab::hdf5 {

/// A dataset in chunks, row-major inside; a contiguous one is one chunk. Chunks at the upper ends of the
/// shape have their full size in the file.
struct DatasetPlace {
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> chunk;
    std::vector<std::uint64_t> offsets;  ///< in the file, of each chunk, row-major over the grid of chunks
    bool is_float32 = false;             ///< of either byte order
    std::string
        indirect;  ///< why the bytes cannot be taken from the file; "" where they can: then each chunk
                   ///< is allocated, not filtered, in this machine's byte order and in this file

    bool direct() const { return indirect.empty(); }
    /// Chunks along each dimension.
    std::vector<std::int64_t> grid() const;
    std::uint64_t chunk_bytes() const;  ///< of float32
    /// The first byte behind all chunks: a shorter file is truncated.
    std::uint64_t end() const;
};

/// The chunks of HDF5 1.10 are looked up in a time that grows with the square of their number: above 16,384
/// (8 s) the place is called indirect.
///
/// DataError where a chunk, or a contiguous dataset, was never written, or where the file says that a chunk
/// without filters has another size than belongs there; up to those 16,384 chunks.
DatasetPlace place_of(const Group& group, const std::string& name);
DatasetPlace place_of(const Object& dataset);

/// The dataset for read_box, with a cache for the chunks that a box touches.
Object open_for_boxes(const Group& group, const std::string& name, std::uint64_t cache_bytes);

/// DataError unless all of it may be held in memory as float32: a small file may claim to be a large one.
void check_all_held(const Object& dataset, const DatasetPlace& place);

/// Reads the box [start, start + count) as float32, row-major, whatever the layout and number type.
void read_box(const Object& dataset, std::span<const std::int64_t> start, std::span<const std::int64_t> count,
              float* out);

}  // namespace ranklab::hdf5
