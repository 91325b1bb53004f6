// Volumes of float32 as a foreign file may hold them: what a dataset is, and its values plane by plane,
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
