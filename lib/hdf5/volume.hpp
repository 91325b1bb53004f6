// Volumes of float32 in a file. Values are read through HDF5 in any layout; DatasetPlace lets
// several threads read them from the file without HDF5, which serves one thread at a time.
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

/// `channels` channels from `first_channel`, whole planes from `first_plane`.
struct VolumePart {
    std::int64_t first_channel = 0;
    std::int64_t channels = 1;
    std::int64_t first_plane = 0;
    std::int64_t planes = 0;
};

class VolumeWriter {
  public:
    /// Replaces an existing file. `mpi` points to an MPI_Comm (comm::native_mpi) over which this
    /// and all functions below are collective; nullptr for one process. Chunks and contiguous
    /// datasets begin at multiples of 4 KiB. Throws EnvironmentError for several ranks if HDF5 has
    /// no MPI.
    VolumeWriter(const std::filesystem::path& path, const void* mpi);

    /// Creates a dataset in the root group: contiguous for `chunk_edge` 0, else in chunks
    /// [channels, c, c, c] with c at most the volume's edge: a chunk holds all channels of a cube.
    void make(const std::string& name, const VolumeShape& shape, std::int64_t chunk_edge);
    /// Writes row-major values of the part. Ranks' parts do not overlap; a rank's may be empty.
    void write(const std::string& name, const VolumePart& part, std::span<const float> values);
    /// Afterwards the file has its full size, so that its blocks can be reserved.
    void flush();
    /// Writes pending data and closes. The destructor does so too, but only logs a failure.
    void close();

  private:
    Id file_;
    Id transfer_;
    std::string path_;
    std::map<std::string, Object> datasets_;
    bool parallel_ = false;
};

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

/// Indirect above 16,384 chunks: HDF5 1.10 needs a time that grows with the square of their number
/// (8 s). Throws DataError if, below that number, values were never written.
DatasetPlace place_of(const Object& dataset);

class Volume {
  public:
    /// `title` names the dataset in messages. Throws DataError if `name` is not a dataset.
    static Volume open(const Group& group, const std::string& name, const std::string& title);

    const DatasetPlace& place() const { return place_; }
    const Object& object() const { return object_; }  ///< for its attributes
    /// Reads a part of a dataset of four dimensions, row-major, as float32.
    void read(const VolumePart& part, std::span<float> values) const;

  private:
    Volume(Object object, DatasetPlace place)
        : object_(std::move(object)), place_(std::move(place)) {}

    Object object_;
    DatasetPlace place_;
};

}  // namespace ranklab::hdf5
