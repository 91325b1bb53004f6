// A volume file, and random crops of it as a source.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "data/dataset.hpp"
#include "data/rotation.hpp"
#include "data/volume_field.hpp"

namespace ranklab::data {

class VolumeFile {
  public:
    /// `in_memory`: all of it is brought into memory at once, whatever its layout. Else mapped on a
    /// local file system and read on any other, which takes float32 that is contiguous or in
    /// chunks, not compressed. DataError with a sentence for a file that is missing, damaged or of
    /// another kind.
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

/// Which crop a draw means.
struct CropPlace {
    /// Each number is uniform in [0, volume edge - crop edge], both ends included.
    std::array<std::int64_t, 3> start{};
    Rotation rotation;
};
/// Follows from `random` alone.
CropPlace crop_place(std::uint64_t random, std::int64_t volume_edge, std::int64_t crop_edge,
                     bool rotate);

/// The default number of crops in an epoch: 16 times as many as lie in the volume side by side; for
/// crops of 64 the published 65,536 of a 1024-cubed volume and 8,192 of a 512-cubed one.
std::int64_t usual_samples(std::int64_t volume_edge, std::int64_t crop_edge);

struct CropOptions {
    std::int64_t edge = 64;
    std::int64_t samples = 0;  ///< what size() says
    bool rotate = false;
    bool rotate_vectors = false;  ///< channels 1..3 of both fields are the velocity's x, y, z
};

/// The input is [nbody channels, edge, edge, edge], the target [hydro channels, edge, edge, edge].
/// The place and the rotation follow from Draw.random alone, whatever Draw.index.
std::shared_ptr<const Source> crop_source(std::shared_ptr<const VolumeFile> file,
                                          const CropOptions& options);

}  // namespace ranklab::data
