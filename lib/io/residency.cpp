#include "io/residency.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace ranklab::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSetting = "directory";
constexpr std::uint64_t kWindow = std::uint64_t{1} << 28U;  // mapped at a time: 64 KiB of mincore's answers

std::uint64_t page_size() {
    static const std::uint64_t size = ::sysconf(_SC_PAGESIZE);
    return size;
}

struct OpenFile {
    base::Descriptor descriptor;
    struct stat status {};
    std::uint64_t bytes() const { return status.st_size; }
};

OpenFile open_to_read(const fs::path& file) {
    OpenFile opened;
    opened.descriptor = base::Descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!opened.descriptor || ::fstat(opened.descriptor.get(), &opened.status) != 0)
        base::throw_read_errno("open", file, errno, kSetting);
    return opened;
}

// Since Linux 5.0 (CVE-2019-5489) mincore calls every page resident unless one of these holds.
bool mincore_is_true(const OpenFile& file, const fs::path& path) {
    return file.status.st_uid == ::geteuid() || ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

std::optional<std::uint64_t> resident_pages(int file, std::uint64_t offset, std::uint64_t length) {
    void* map = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, file, offset);
    if (map == MAP_FAILED) return std::nullopt;
    std::vector<unsigned char> answers((length + page_size() - 1) / page_size());
    const int failed = ::mincore(map, length, answers.data());
    ::munmap(map, length);
    if (failed != 0) return std::nullopt;
    const auto resident = std::count_if(answers.begin(), answers.end(), [](auto a) { return (a & 1U) != 0; });
    return resident;
}

}  // namespace

std::optional<Residency> residency_of(const fs::path& path) {
    const OpenFile file = open_to_read(path);
    if (!mincore_is_true(file, path)) return std::nullopt;
    std::uint64_t pages = 0;
    for (std::uint64_t offset = 0; offset < file.bytes(); offset += kWindow) {
        const auto length = std::min(kWindow, file.bytes() - offset);
        const auto here = resident_pages(file.descriptor.get(), offset, length);
        if (!here) return std::nullopt;
        pages += *here;
    }
    return Residency{file.bytes(), std::min(pages * page_size(), file.bytes())};
}

std::optional<std::uint64_t> delivered_bytes() {
    std::ifstream account("/proc/self/io");
    std::string name;
    std::uint64_t value = 0;
    while (account >> name >> value) {
        if (name == "read_bytes:") return value;
    }
    return std::nullopt;
}

void evict(const fs::path& file) {
    const OpenFile opened = open_to_read(file);
    const int descriptor = opened.descriptor.get();
    // The cache keeps what is not yet on the device. Some file systems have no fsync of what was only read.
    if (::fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS)
        base::throw_errno("fsync", file, errno, kSetting);
    // A refusal is no failure: the pages stay, and residency_of says so.
    static_cast<void>(::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED));
}

}  // namespace ranklab::io
