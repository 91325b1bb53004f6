#include "data/file_bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "base/file_system.hpp"
#include "base/regular_file.hpp"
#include "base/whole_io.hpp"

namespace ranklab::data {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* what) {
    throw base::DataError(fmt::format("{} cannot be {}: {}", path.string(), what, std::strerror(errno)));
}

}  // namespace

FileBytes::FileBytes(const std::filesystem::path& path, ByteAccess access) : path_(path) {
    file_ = base::open_regular<base::DataError>(path, O_RDONLY);
    if (!file_) fail(path, "opened");
    struct stat info {};
    if (::fstat(file_.get(), &info) != 0) fail(path, "looked at");
    size_ = info.st_size;
    if (access != ByteAccess::read && size_ > 0) map(access == ByteAccess::resident);
}

FileBytes::FileBytes(const std::filesystem::path& path, std::vector<float> held)
    : path_(path),
      size_(held.size() * sizeof(float)),
      held_(std::move(held)),
      map_(std::as_bytes(std::span(held_)).data()) {}

// Where a mapping cannot be had (limits on address space), pread serves as well.
void FileBytes::map(bool resident) {
    void* const memory = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file_.get(), 0);
    if (memory == MAP_FAILED) return;
    map_ = static_cast<const std::byte*>(memory);
    if (!resident) return;
#ifdef MADV_POPULATE_READ
    if (::madvise(memory, size_, MADV_POPULATE_READ) == 0) return;
#endif
    constexpr std::uint64_t kPage = 4096;
    volatile unsigned sum = 0;  // so that the reads are made
    for (std::uint64_t i = 0; i < size_; i += kPage) sum = sum + static_cast<unsigned>(map_[i]);
}

FileBytes::~FileBytes() {
    if (map_ != nullptr && held_.empty()) ::munmap(const_cast<std::byte*>(map_), size_);
}

const std::byte* FileBytes::at(std::uint64_t offset, std::size_t count) const {
    if (offset + count > size_ || offset + count < offset)
        throw base::DataError(
            fmt::format("{} ends at byte {}, before byte {} that was to be read: it is truncated",
                        path_.string(), size_, offset + count));
    if (map_ != nullptr) return map_ + offset;
    thread_local std::vector<std::byte> buffer;
    if (buffer.size() < count) buffer.resize(count);
    const auto got = base::read_whole_at(file_.get(), std::span(buffer).first(count), offset);
    if (!got) fail(path_, "read");
    if (*got < count)
        throw base::DataError(
            fmt::format("{} became shorter while it was read: leave it alone during a run", path_.string()));
    return buffer.data();
}

ByteAccess access_for(const std::filesystem::path& path) {
    using Kind = base::FileSystemKind;
    const Kind kind = base::file_system_at(path).kind;
    return kind == Kind::disk || kind == Kind::memory ? ByteAccess::mapped : ByteAccess::read;
}

}  // namespace ranklab::data
