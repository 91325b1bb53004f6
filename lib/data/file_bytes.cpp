#include "data/file_bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/crash_sentence.hpp"
#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "monitor/host.hpp"

namespace ranklab::data {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* what) {
    throw base::DataError(fmt::format("{} cannot be {}: {}", path.string(), what, std::strerror(errno)));
}

}  // namespace

FileBytes::FileBytes(const std::filesystem::path& path, ByteAccess access)
    : path_(path),
      shrunk_(
          fmt::format("{} became shorter while it was read, or its disk fails: leave it alone during a run",
                      path.string())) {
    file_ = base::open_regular<base::DataError>(path, O_RDONLY).release();
    if (file_ < 0) fail(path, "opened");
    struct stat info {};
    if (::fstat(file_, &info) != 0 || !S_ISREG(info.st_mode)) {
        ::close(file_);
        throw base::DataError(fmt::format("{} is no ordinary file", path.string()));
    }
    size_ = static_cast<std::uint64_t>(info.st_size);
    if (access != ByteAccess::read && size_ > 0) map(access == ByteAccess::resident);
}

// Where a mapping cannot be had (limits on address space), pread serves as well.
void FileBytes::map(bool resident) {
    void* const memory = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file_, 0);
    if (memory == MAP_FAILED) return;
    map_ = static_cast<const std::byte*>(memory);
    if (!resident) return;
    const base::CrashSentence lost(shrunk_, base::CrashSentence::For::lost_pages);
#ifdef MADV_POPULATE_READ
    if (::madvise(memory, size_, MADV_POPULATE_READ) == 0) return;
#endif
    constexpr std::uint64_t kPage = 4096;
    volatile unsigned sum = 0;  // so that the reads are made
    for (std::uint64_t i = 0; i < size_; i += kPage) sum = sum + static_cast<unsigned>(map_[i]);
}

FileBytes::~FileBytes() {
    if (map_ != nullptr) ::munmap(const_cast<std::byte*>(map_), size_);
    ::close(file_);
}

const std::byte* FileBytes::at(std::uint64_t offset, std::size_t count) const {
    if (offset + count > size_ || offset + count < offset)
        throw base::DataError(
            fmt::format("{} ends at byte {}, before byte {} that was to be read: it is truncated",
                        path_.string(), size_, offset + count));
    if (map_ != nullptr) return map_ + offset;
    thread_local std::vector<std::byte> buffer;
    if (buffer.size() < count) buffer.resize(count);
    for (std::size_t done = 0; done < count;) {
        const ssize_t got =
            ::pread(file_, buffer.data() + done, count - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail(path_, "read");
        if (got == 0) throw base::DataError(shrunk_);
        done += static_cast<std::size_t>(got);
    }
    return buffer.data();
}

ByteAccess access_for(const std::filesystem::path& path) {
    static constexpr std::array<std::string_view, 5> kLocal{"ext4", "xfs", "btrfs", "tmpfs", "overlayfs"};
    const auto is_local =
        std::find(kLocal.begin(), kLocal.end(), monitor::file_system_of(path)) != kLocal.end();
    return is_local ? ByteAccess::mapped : ByteAccess::read;
}

}  // namespace ranklab::data
