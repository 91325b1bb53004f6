#include "hdf5/cut_off.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/descriptor.hpp"

namespace ranklab::hdf5 {
namespace {

namespace fs = std::filesystem;

// First all, then what is done to them: that opens others.
std::vector<int> descriptors_of(const FileIdentity& file) {
    std::vector<int> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd", error)) {
        const int fd = std::atoi(entry.path().filename().c_str());
        struct stat status {};
        if (::fstat(fd, &status) == 0 && status.st_dev == file.device && status.st_ino == file.inode)
            found.push_back(fd);
    }
    return found;
}

}  // namespace

FileIdentity identity_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};
    return {status.st_dev, status.st_ino};
}

void cut_off(const FileIdentity& file) noexcept {
    if (file.inode == 0) return;
    try {
        const base::Descriptor nowhere(::memfd_create("ranklab-cut-off", MFD_CLOEXEC));
        if (!nowhere) return;
        for (const int fd : descriptors_of(file)) ::dup3(nowhere.get(), fd, O_CLOEXEC);
    } catch (...) {  // in a destructor nothing more can be done
    }
}

bool there_is_no_room(std::string_view library_text, const std::string& path, std::uint64_t bytes) {
    constexpr std::array<std::string_view, 5> kTexts{"No space left", "no space left", "File too large",
                                                     "uota exceeded", "MPI_ERR_NO_SPACE"};
    const auto says = [&](std::string_view text) { return library_text.find(text) != library_text.npos; };
    if (std::any_of(kTexts.begin(), kTexts.end(), says)) return true;
    struct statvfs status {};
    return ::statvfs(path.c_str(), &status) == 0 && status.f_bavail * status.f_frsize < bytes;
}

}  // namespace ranklab::hdf5
