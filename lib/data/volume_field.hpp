// Reads boxes of one dataset of a volume file, [channels, edge, edge, edge] float32. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "hdf5/array.hpp"

namespace ranklab::data {

/// mapped: from the page cache, without a copy or a system call per crop; SIGBUS if the file has
/// shrunk. read: pread, which network file systems serve in larger pieces. resident: mapped and
/// read into the page cache when opened; the ranks of a host share those pages.
enum class ByteAccess { mapped, read, resident };

class FileBytes {
  public:
    /// Throws DataError if the file cannot be opened.
    FileBytes(const std::filesystem::path& path, ByteAccess access);
    /// Holds values that were read through HDF5; `path` is for messages.
    FileBytes(const std::filesystem::path& path, std::vector<float> held);
    ~FileBytes();

    std::uint64_t size() const { return size_; }
    bool is_mapped() const { return map_ != nullptr; }

    /// The bytes [offset, offset + count), valid until this thread's next call. Throws DataError if
    /// the file became shorter.
    const std::byte* at(std::uint64_t offset, std::size_t count) const;

  private:
    std::filesystem::path path_;
    base::Descriptor file_;
    std::uint64_t size_ = 0;
    std::vector<float> held_;
    const std::byte* map_ = nullptr;  ///< the mapping, or held_
};

/// `mapped` on a local file system, `read` on others.
ByteAccess access_for(const std::filesystem::path& path);

/// `planes` x `edge` x `edge` numbers of one channel, the first at (x, y, z).
struct Slab {
    std::int64_t channel = 0;
    std::int64_t x = 0;
    std::int64_t planes = 0;
    std::int64_t y = 0;
    std::int64_t z = 0;
    std::int64_t edge = 0;
};

/// Destination of a slab: the row of plane i and line j begins at first + i * plane + j * line.
struct Rows {
    float* first = nullptr;
    std::ptrdiff_t plane = 0;
    std::ptrdiff_t line = 0;
};

class VolumeField {
  public:
    /// `name`: file and dataset, for messages. `place` must be direct() and describe `bytes`.
    VolumeField(std::string name, std::shared_ptr<const FileBytes> bytes, hdf5::DatasetPlace place);
    std::int64_t channels() const { return place_.shape[0]; }
    std::int64_t edge() const { return place_.shape[1]; }
    /// Reads a slab. Throws DataError, with the position, at the first NaN or infinity.
    void read(const Slab& slab, const Rows& rows) const;

  private:
    /// Returns false if a copied number is not finite.
    bool copy(const Slab& slab, const Rows& rows) const;
    std::uint64_t byte_of(const std::array<std::int64_t, 4>& at) const;

    std::string name_;
    std::shared_ptr<const FileBytes> bytes_;
    hdf5::DatasetPlace place_;
    std::vector<std::int64_t> grid_;
};

}  // namespace ranklab::data
