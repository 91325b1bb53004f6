#include "results/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <thread>

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

enum class Answer { ours, others, no_locks };

// A file system without flock has its say in many ways (ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL, EIO); whatever it
// is, the other lock holds.
Answer try_lock(const Descriptor& descriptor, int operation) {
    while (::flock(descriptor.get(), operation) != 0) {
        if (errno != EINTR) return errno == EWOULDBLOCK ? Answer::others : Answer::no_locks;
    }
    return Answer::ours;
}

void wait_for_lock(const Descriptor& descriptor, const fs::path& path) {
    constexpr auto kPatience = std::chrono::seconds(2);
    constexpr auto kPause = std::chrono::milliseconds(10);
    const auto start = std::chrono::steady_clock::now();
    while (try_lock(descriptor, LOCK_EX | LOCK_NB) == Answer::others) {
        if (std::chrono::steady_clock::now() - start >= kPatience) {
            base::log::info(fmt::format("waiting for another job that holds {}", path.string()));
            try_lock(descriptor, LOCK_EX);
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

Descriptor locked(const fs::path& path) {
    for (;;) {
        Descriptor descriptor = open_lock_file(path);
        wait_for_lock(descriptor, path);
        if (still_there(descriptor, path)) return descriptor;
    }
}

}  // namespace

FileLock::FileLock(const fs::path& results_file)
    : flock_(locked(lock_path(results_file))), owner_(results_file) {}

void FileLock::check_possible(const fs::path& results_file) {
    open_lock_file(lock_path(results_file));
}

}  // namespace ranklab::results
