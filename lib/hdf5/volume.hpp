// Volumes of float32 as a file may hold them: what a dataset is, where its numbers lie for readers that take
// them from the file themselves (the library serves one thread at a time), and its values plane by plane,
// through the library whatever the layout.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hdf5/group.hpp"
#include "hdf5/volume_writer.hpp"

namespace ranklab::hdf5 {

struct VolumeInfo {
    std::vector<std::int64_t> shape;  ///< of any number of dimensions up to 8
    std::string type;                 ///< "float32", "float64 big-endian", "int16", "compound"
    std::vector<std::int64_t> chunk;  ///< empty: contiguous (or compact)
    bool filtered = false;
    std::uint64_t stored_bytes = 0;  ///< what the file holds of it; 0 where nothing was ever written
};

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
/// DataError where a chunk, or a contiguous dataset, was never written; up to those 16,384 chunks.
DatasetPlace place_of(const Group& group, const std::string& name);
DatasetPlace place_of(const Object& dataset);

/// The dataset for read_box, with a cache for the chunks that a box touches.
Object open_for_boxes(const Group& group, const std::string& name, std::uint64_t cache_bytes);

/// Reads the box [start, start + count) as float32, row-major, whatever the layout and number type.
void read_box(const Object& dataset, std::span<const std::int64_t> start, std::span<const std::int64_t> count,
              float* out);

class Volume {
  public:
    /// DataError where `name` is no dataset.
    static Volume open(const Group& group, const std::string& name);

    const VolumeInfo& info() const { return info_; }
    const Object& object() const { return object_; }  ///< for its attributes
    /// For datasets of four dimensions: the part, row-major, converted to float32.
    void read(const VolumePart& part, std::span<float> values) const;

  private:
    Volume(Object object, VolumeInfo info) : object_(std::move(object)), info_(std::move(info)) {}

    Object object_;
    VolumeInfo info_;
};

}  // namespace ranklab::hdf5
