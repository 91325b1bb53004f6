// Volumes of float32 in a file. Readers may take the bytes straight from the file by the chunks'
// offsets, since the library serves one thread at a time, or read planes of any layout through the
// library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "hdf5/file.hpp"
#include "hdf5/object.hpp"

namespace ranklab::hdf5 {

using VolumeShape = std::array<std::int64_t, 4>;  ///< channels, depth (z), height (y), width (x)

/// A part of a volume: `channels` from `first_channel`, whole planes from `first_plane`.
struct VolumePart {
    std::int64_t first_channel = 0;
    std::int64_t channels = 1;
    std::int64_t first_plane = 0;
    std::int64_t planes = 0;  ///< 0: this rank has no part
};

class VolumeWriter {
  public:
    /// Replaces an existing file. `mpi` points to an MPI_Comm (comm::native_mpi) whose ranks all
    /// call the constructor and every function below; nullptr for a single process. Chunks and
    /// contiguous datasets begin at multiples of 4 KiB. Throws EnvironmentError for several ranks
    /// if this HDF5 was built without MPI.
    VolumeWriter(const std::filesystem::path& path, const void* mpi);

    /// Makes a dataset in the root group: contiguous if `chunk_edge` is 0, otherwise in chunks
    /// [channels, c, c, c], c = min(chunk_edge, the volume's edge), which hold all channels of a
    /// cube.
    void make(const std::string& name, const VolumeShape& shape, std::int64_t chunk_edge);
    /// Writes the part's values, row-major. Collective; the ranks' parts must not overlap.
    void write(const std::string& name, const VolumePart& part, std::span<const float> values);
    /// Collective. Gives the file its full size, so that another process may reserve the blocks.
    void flush();
    /// Flushes and closes, and throws on failure; the destructor can only log one.
    void close();

  private:
    Id file_;
    Id transfer_;
    std::string path_;
    std::map<std::string, Object> datasets_;
    bool parallel_ = false;
};

/// The chunks of a dataset, each row-major; a contiguous dataset is one chunk. Chunks at the upper
/// edges of the shape have their full size in the file.
struct DatasetPlace {
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> chunk;
    /// The file offset of each chunk, row-major over the grid of chunks.
    std::vector<std::uint64_t> offsets;
    bool is_float32 = false;  ///< of either byte order
    /// The reason if the bytes cannot be read directly. "" if they can: all chunks are allocated,
    /// unfiltered, in this machine's byte order and in this file.
    std::string indirect;

    bool direct() const { return indirect.empty(); }
    /// Chunks along each dimension.
    std::vector<std::int64_t> grid() const;
    std::uint64_t chunk_bytes() const;  ///< of float32
    /// The end of the last chunk: a shorter file is truncated.
    std::uint64_t end() const;
};

/// The chunks of `dataset`. Above 16,384 chunks the result is indirect: HDF5 1.10 takes a time
/// quadratic in their number to look them up (8 s). Otherwise throws DataError if a chunk was never
/// written.
DatasetPlace place_of(const Object& dataset);

class Volume {
  public:
    /// Messages call it `title`. Throws DataError if `name` is not a dataset.
    static Volume open(const Group& group, const std::string& name, const std::string& title);

    const DatasetPlace& place() const { return place_; }
    const Object& object() const { return object_; }  ///< for its attributes
    /// Reads a part of a four-dimensional dataset, row-major, converted to float32.
    void read(const VolumePart& part, std::span<float> values) const;

  private:
    Volume(Object object, DatasetPlace place)
        : object_(std::move(object)), place_(std::move(place)) {}

    Object object_;
    DatasetPlace place_;
};

}  // namespace ranklab::hdf5
