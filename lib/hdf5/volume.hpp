// Volumes of float32 in a file: a dataset's form, the place of its numbers for readers that read
// the file directly (the library serves one thread at a time), and its values plane by plane,
// through the library in any layout.
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

/// Which part of a volume: `channels` from `first_channel`, whole planes from `first_plane`.
struct VolumePart {
    std::int64_t first_channel = 0;
    std::int64_t channels = 1;
    std::int64_t first_plane = 0;
    std::int64_t planes = 0;  ///< 0: nothing of this rank
};

class VolumeWriter {
  public:
    /// Replaces what is there. `mpi` points to an MPI_Comm whose ranks all call this and every
    /// function below (comm::native_mpi); nullptr for a single process. Chunks and contiguous
    /// datasets begin at multiples of 4 KiB. EnvironmentError where this HDF5 was built without MPI
    /// and there are several ranks.
    VolumeWriter(const std::filesystem::path& path, const void* mpi);

    /// Makes a dataset in the root group. `chunk_edge` 0: contiguous; else chunks [channels, c, c,
    /// c] with c at most the volume's edge, so that a chunk holds every channel of a cube.
    void make(const std::string& name, const VolumeShape& shape, std::int64_t chunk_edge);
    /// Writes row-major values of the part, whole rows and planes. Collective; ranks' parts do not
    /// overlap.
    void write(const std::string& name, const VolumePart& part, std::span<const float> values);
    /// Collective. The file then has its full size, with room for the values of all that was made:
    /// another process may then reserve the blocks.
    void flush();
    /// Writes what is pending and closes; the destructor does so too, but can only log a failure.
    void close();

  private:
    Id file_;
    Id transfer_;
    std::string path_;
    std::map<std::string, Object> datasets_;
    bool parallel_ = false;
};

/// A dataset in chunks, row-major inside; a contiguous one is one chunk. Chunks at the upper ends
/// of the shape have their full size in the file.
struct DatasetPlace {
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> chunk;
    /// The place of each chunk in the file, row-major over the grid of chunks.
    std::vector<std::uint64_t> offsets;
    bool is_float32 = false;  ///< of either byte order
    /// Why the bytes cannot be taken from the file; "" where they can: then each chunk is
    /// allocated, not filtered, in this machine's byte order and in this file.
    std::string indirect;

    bool direct() const { return indirect.empty(); }
    /// Chunks along each dimension.
    std::vector<std::int64_t> grid() const;
    std::uint64_t chunk_bytes() const;  ///< of float32
    /// The first byte behind all chunks: a shorter file is truncated.
    std::uint64_t end() const;
};

/// HDF5 1.10 looks up chunks in a time that grows with the square of their number: above 16,384 of
/// them (8 s) the place counts as indirect.
///
/// DataError where a chunk, or a contiguous dataset, was never written; up to those 16,384 chunks.
DatasetPlace place_of(const Object& dataset);

class Volume {
  public:
    /// `title` names it in messages. DataError where `name` is not a dataset.
    static Volume open(const Group& group, const std::string& name, const std::string& title);

    const DatasetPlace& place() const { return place_; }
    const Object& object() const { return object_; }  ///< for its attributes
    /// For datasets of four dimensions: the part, row-major, converted to float32.
    void read(const VolumePart& part, std::span<float> values) const;

  private:
    Volume(Object object, DatasetPlace place)
        : object_(std::move(object)), place_(std::move(place)) {}

    Object object_;
    DatasetPlace place_;
};

}  // namespace ranklab::hdf5
