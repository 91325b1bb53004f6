// Volumes [channels, depth, height, width] of float32, written by many ranks into one file: the creating side
// of the cosmology data. What is made here can be read at its place in the file, without the library:
// native byte order, never filtered, allocated when it is made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "hdf5/handle.hpp"
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
    /// Replaces what is there. `mpi` points to an MPI_Comm whose ranks all call this and every function below
    /// (comm::native_mpi); nullptr for a process alone. Chunks and contiguous datasets begin at multiples of
    /// 4 KiB. EnvironmentError where this HDF5 was built without MPI and there are several ranks.
    VolumeWriter(const std::filesystem::path& path, const void* mpi);

    /// A dataset in the root group. `chunk_edge` 0: contiguous; else chunks [channels, c, c, c] with c no
    /// longer than the volume, so that a chunk holds every channel of a cube.
    void make(const std::string& name, const VolumeShape& shape, std::int64_t chunk_edge);
    /// Row-major values of the part, whole rows and planes. Collective; the parts of the ranks do not
    /// overlap.
    void write(const std::string& name, const VolumePart& part, std::span<const float> values);
    /// Whether the last write() really was collective: HDF5 falls back to independent writing on its own.
    /// True for a process alone.
    bool last_was_collective() const { return last_was_collective_; }

    /// Collective. The file then has its full size, with room for the values of all that was made: whoever
    /// opens it beside us may reserve the blocks.
    void flush();
    /// Writes what is pending and closes; the destructor does so too, but can only log a failure.
    void close();

  private:
    Id file_;
    Id transfer_;
    std::string path_;
    std::map<std::string, Object> datasets_;
    bool parallel_ = false;
    bool last_was_collective_ = true;
};

}  // namespace ranklab::hdf5
