// The bytes of a file, for several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace ranklab::data {

/// mapped: the page cache itself, no copy and no system call a crop; where the file shrinks
/// meanwhile, reading from it is SIGBUS. read: pread, which network file systems serve in larger pieces.
/// resident: mapped, and all of it brought into memory at once; the
/// ranks of a host share it.
enum class ByteAccess { mapped, read, resident };

class FileBytes {
  public:
    /// DataError where it cannot be opened.
    FileBytes(const std::filesystem::path& path, ByteAccess access);
    /// What was read already.
    FileBytes(const std::filesystem::path& path, std::vector<float> held);
    ~FileBytes();

    std::uint64_t size() const { return size_; }
    bool is_mapped() const { return map_ != nullptr; }

    /// The bytes [offset, offset + count). They stand until this thread's next call. DataError where the file
    /// became shorter.
    const std::byte* at(std::uint64_t offset, std::size_t count) const;

  private:
    void map(bool resident);

    std::filesystem::path path_;
    base::Descriptor file_;
    std::uint64_t size_ = 0;
    std::vector<float> held_;
    const std::byte* map_ = nullptr;  ///< of the file; or held_
};

/// mapped on a local file system, read on any other.
ByteAccess access_for(const std::filesystem::path& path);

}  // namespace ranklab::data
