#include "io/free_space.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>

#include "base/cast.hpp"
#include "base/descriptor.hpp"
#include "base/file_system.hpp"

namespace ranklab::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSetting = "directory";

// Measured: header, group entry and name of a dataset take 400 bytes (330 in the latest format), and 2.7 KB
// more where it is in chunks, for the B-tree's first node; each chunk takes up to 60 bytes there.
constexpr double kBytesPerDataset = 1024;
constexpr double kBytesPerChunkedDataset = 8192;
constexpr double kBytesPerChunk = 128;
constexpr double kBytesPerFile = 1 << 20;

[[noreturn]] void fail(const char* call, const fs::path& path, int error) {
    ::unlink(path.c_str());
    base::throw_errno(call, path, error, kSetting);
}

// Without this a file system would first look for every free block it has.
void check_free(int fd, const fs::path& path, std::uint64_t bytes) {
    struct statvfs status {};
    if (::fstatvfs(fd, &status) != 0) fail("fstatvfs", path, errno);
    if (status.f_bavail < bytes / status.f_frsize) fail("fstatvfs", path, ENOSPC);
}

bool is_in_memory(int fd) {
    return base::file_system_of(fd).kind == base::FileSystemKind::memory;
}

// Reserving finds quotas and limits to the size of files out; where it is not offered, the size alone finds
// the limits. In memory it would take as long as writing, and the free space was the truth.
void try_size(int fd, const fs::path& path, std::uint64_t bytes) {
    const off_t length = bytes;
    int result = -1;
    errno = EOPNOTSUPP;
    if (!is_in_memory(fd)) {
        do {
            result = ::fallocate(fd, 0, 0, length);
        } while (result != 0 && errno == EINTR);
    }
    if (result != 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) result = ::ftruncate(fd, length);
    if (result != 0) fail("fallocate", path, errno);
    if (::ftruncate(fd, 0) != 0) fail("ftruncate", path, errno);
}

}  // namespace

std::uint64_t hdf5_file_bytes(const Job& job) {
    const double n = base::real(job.files);
    const double size = base::real(job.size);
    const double edge = base::real(std::min(job.hdf5.chunk, job.size));
    const double along = edge > 0 ? std::ceil(size / edge) : 1;
    const double chunks = along * along;
    const double values = edge > 0 ? chunks * edge * edge : size * size;
    const double gaps = job.hdf5.alignment > 1 ? base::real(job.hdf5.alignment) * (chunks + 1) : 0;
    const double own = edge > 0 ? kBytesPerChunkedDataset : kBytesPerDataset;
    const double bytes = n * (8 * values + own + chunks * kBytesPerChunk + gaps) + kBytesPerFile;
    return static_cast<std::uint64_t>(
        std::min(bytes, base::real(std::numeric_limits<std::int64_t>::max() / 2)));
}

void check_free_space(const fs::path& path, std::uint64_t bytes) {
    const base::Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file) base::throw_errno("open", path, errno, kSetting);
    check_free(file.get(), path, bytes);
    try_size(file.get(), path, bytes);
}

}  // namespace ranklab::io
