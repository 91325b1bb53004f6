// One dataset of a volume file, [channels, edge, edge, edge] float32: boxes of it, read by several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "data/file_bytes.hpp"
#include "hdf5/volume.hpp"

namespace ranklab::data {

/// `planes` x `edge` x `edge` numbers of one channel, from (x, y, z) on.
struct Slab {
    std::int64_t channel = 0;
    std::int64_t x = 0;
    std::int64_t planes = 0;
    std::int64_t y = 0;
    std::int64_t z = 0;
    std::int64_t edge = 0;
};

/// Where a slab goes: the row of plane i and line j begins at first + i * plane + j * line.
struct Rows {
    float* first = nullptr;
    std::ptrdiff_t plane = 0;
    std::ptrdiff_t line = 0;
};

class VolumeField {
  public:
    virtual ~VolumeField() = default;
    /// DataError where the slab holds a NaN or an infinity: it names the first one's place.
    void read(const Slab& slab, const Rows& rows) const;

  protected:
    explicit VolumeField(std::string name) : name_(std::move(name)) {}
    /// Copies, and tells whether all numbers are finite.
    virtual bool copy(const Slab& slab, const Rows& rows) const = 0;
    const std::string& name() const { return name_; }

  private:
    std::string name_;  ///< file and dataset, for messages
};

/// Its bytes lie in `bytes` as `place` says; place.direct().
std::unique_ptr<VolumeField> direct_field(std::string name, std::shared_ptr<const FileBytes> bytes,
                                          hdf5::DatasetPlace place);
/// Through the HDF5 library, one thread at a time. `dataset` comes from open_for_boxes; its file stays open.
std::unique_ptr<VolumeField> library_field(std::string name, std::shared_ptr<const hdf5::Object> dataset);
/// Read as a whole through the library, now, into this process's memory.
std::unique_ptr<VolumeField> memory_field(std::string name, const hdf5::Object& dataset,
                                          hdf5::DatasetPlace place);

}  // namespace ranklab::data
