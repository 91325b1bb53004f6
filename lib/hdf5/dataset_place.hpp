// Where the values of a dataset lie in its file, so that several threads can read them without
// HDF5, which serves one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hdf5/object.hpp"

namespace ranklab::hdf5 {

/// Where a dataset's chunks lie in its file; a contiguous dataset is one chunk. Chunks are
/// row-major and have their full size, also at the upper ends of the shape.
struct DatasetPlace {
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> chunk;
    /// Byte of the file at which each chunk begins, row-major over the grid of chunks.
    std::vector<std::uint64_t> offsets;
    bool is_float32 = false;  ///< of either byte order
    /// Why only HDF5 can read the values. "" if each chunk is allocated in this file, without
    /// filter and in this machine's byte order.
    std::string indirect;

    bool direct() const { return indirect.empty(); }
    /// Chunks along each dimension.
    std::vector<std::int64_t> grid() const;
    /// The byte after the last chunk: a shorter file is truncated.
    std::uint64_t end() const;
};

/// A dataset of more than 16,384 chunks is `indirect`: HDF5 1.10 takes 8 s to locate them, and the
/// time grows with their number squared. Throws DataError if a smaller dataset has unwritten parts.
DatasetPlace place_of(const Object& dataset);

}  // namespace ranklab::hdf5
