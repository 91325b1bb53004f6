// A file of two fields over one cube: /Nbody [4, L, L, L] and /Hydro [5, L, L, L], float32, at any L.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "data/volume_field.hpp"

namespace ranklab::data {

class VolumeFile {
  public:
    /// `in_memory`: all of it is brought into memory at once, whatever its layout. Else mapped on a local
    /// file system and read on any other, which takes float32 that is contiguous or in chunks, not
    /// compressed. DataError with a sentence for what is missing, damaged or of another kind.
    VolumeFile(const std::filesystem::path& path, bool in_memory);

    std::int64_t edge() const { return nbody_->edge(); }
    std::int64_t nbody_channels() const { return nbody_->channels(); }
    std::int64_t hydro_channels() const { return hydro_->channels(); }
    const VolumeField& nbody() const { return *nbody_; }
    const VolumeField& hydro() const { return *hydro_; }
    /// How its bytes are had, for the run's context: "mapped", "read" or "in memory".
    const std::string& how() const { return how_; }

  private:
    std::string how_;
    std::optional<VolumeField> nbody_, hydro_;
};

}  // namespace ranklab::data
