// Random crops of a volume file as a source.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "data/rotation.hpp"
#include "data/volume_field.hpp"

namespace ranklab::data {

class VolumeFile {
  public:
    /// `in_memory`: reads the whole file, of any layout. Otherwise maps it on a local file system
    /// and uses pread on others; the datasets must then be contiguous or chunked float32 without
    /// compression. Throws DataError if the file is missing, damaged or of another format.
    VolumeFile(const std::filesystem::path& path, bool in_memory);

    std::int64_t edge() const { return fields_.front().edge(); }
    /// Nbody and Hydro.
    const std::vector<VolumeField>& fields() const { return fields_; }
    /// "mapped", "read" or "in memory", stored with the run.
    const std::string& how() const { return how_; }

  private:
    std::string how_;
    std::vector<VolumeField> fields_;
};

struct CropPlace {
    /// Each coordinate is uniform in [0, volume edge - crop edge], both ends included.
    std::array<std::int64_t, 3> start{};
    Rotation rotation;
};
/// Depends on the arguments only.
CropPlace crop_place(std::uint64_t random, std::int64_t volume_edge, std::int64_t crop_edge,
                     bool rotate);

/// The default number of crops per epoch: 16 times the number that fits side by side. For crops of
/// edge 64 these are the published 65,536 (volume of edge 1024) and 8,192 (volume of edge 512).
std::int64_t usual_samples(std::int64_t volume_edge, std::int64_t crop_edge);

struct CropOptions {
    std::int64_t edge = 64;
    std::int64_t samples = 0;  ///< the source's size()
    bool rotate = false;
    bool rotate_vectors = false;  ///< also rotates the velocity, channels 1..3 of both fields
};

/// Inputs [4, edge, edge, edge] of /Nbody, targets [5, edge, edge, edge] of /Hydro. Place and
/// rotation follow from Draw.random; Draw.index is ignored.
std::shared_ptr<const Source> crop_source(std::shared_ptr<const VolumeFile> file,
                                          const CropOptions& options);

}  // namespace ranklab::data
