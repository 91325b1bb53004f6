#include "results/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "base/error.hpp"
#include "base/log.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

fs::path lock_path(const fs::path& results_file) {
    return results_file.string() + ".lock";
}

// For writing, because NFS turns flock into a byte-range lock, which asks for that.
Descriptor open_lock_file(const fs::path& path) {
    Descriptor descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!descriptor) throw_errno("open", path, errno);
    return descriptor;
}

// false: somebody else holds it.
bool try_lock(const Descriptor& descriptor, int operation, const fs::path& path) {
    while (::flock(descriptor.get(), operation) != 0) {
        const int error = errno;
        if (error == EINTR) continue;
        if (error == EWOULDBLOCK) return false;
        throw base::EnvironmentError(fmt::format(
            "{}: this file system has no file locks (flock: {}), and without them jobs could overwrite each "
            "other's runs; name a place on another file system with --output",
            path.string(), std::generic_category().message(error)));
    }
    return true;
}

void wait_for_lock(const Descriptor& descriptor, const fs::path& path) {
    constexpr auto kPatience = std::chrono::seconds(2);
    constexpr auto kPause = std::chrono::milliseconds(10);
    const auto start = std::chrono::steady_clock::now();
    while (!try_lock(descriptor, LOCK_EX | LOCK_NB, path)) {
        if (std::chrono::steady_clock::now() - start >= kPatience) {
            base::log::info(fmt::format("waiting for another job that holds {}", path.string()));
            try_lock(descriptor, LOCK_EX, path);
            return;
        }
        std::this_thread::sleep_for(kPause);
    }
}

// Somebody may have tidied the lock file away while we waited; then ours is a lock on nothing.
bool still_there(const Descriptor& descriptor, const fs::path& path) {
    struct stat ours {};
    struct stat theirs {};
    return ::fstat(descriptor.get(), &ours) == 0 && ::stat(path.c_str(), &theirs) == 0 &&
           ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

}  // namespace

FileLock::FileLock(const fs::path& results_file) {
    const fs::path path = lock_path(results_file);
    do {
        descriptor_ = open_lock_file(path);
        wait_for_lock(descriptor_, path);
    } while (!still_there(descriptor_, path));
}

void FileLock::check_possible(const fs::path& results_file) {
    const fs::path path = lock_path(results_file);
    const Descriptor descriptor = open_lock_file(path);
    try_lock(descriptor, LOCK_SH | LOCK_NB, path);
}

}  // namespace ranklab::results
