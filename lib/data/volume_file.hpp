// A file of two fields over one cube: /Nbody [4, L, L, L] and /Hydro [5, L, L, L], float32, at any L.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "data/volume_field.hpp"

namespace ranklab::data {

/// automatic: mapped on a local file system, else read (data/file_bytes.hpp); through the HDF5 library where
/// a dataset's layout allows neither. memory: all of it is brought into memory at once.
enum class VolumeAccess { automatic, mapped, read, library, memory };

class VolumeFile {
  public:
    /// DataError with a sentence for what is missing, damaged or of another kind.
    VolumeFile(const std::filesystem::path& path, VolumeAccess access);
    ~VolumeFile();

    std::int64_t edge() const { return edge_; }
    std::int64_t nbody_channels() const { return nbody_channels_; }
    std::int64_t hydro_channels() const { return hydro_channels_; }
    const VolumeField& nbody() const { return *nbody_; }
    const VolumeField& hydro() const { return *hydro_; }
    /// How its bytes are had, for the run's context: "mapped", "read", "in memory", or "through HDF5, since
    /// ..".
    const std::string& how() const { return how_; }

  private:
    class Opening;

    std::int64_t edge_ = 0;
    std::int64_t nbody_channels_ = 0;
    std::int64_t hydro_channels_ = 0;
    std::string how_;
    std::shared_ptr<const void> library_;  ///< the open HDF5 file, where it is needed
    std::unique_ptr<VolumeField> nbody_;
    std::unique_ptr<VolumeField> hydro_;
};

}  // namespace ranklab::data
