#include "results/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/error.hpp"
#include "base/regular_file.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

fs::path lock_path(const fs::path& results_file) {
    return results_file.string() + ".lock";
}

// For writing, because NFS turns flock into a byte-range lock, which asks for that.
Descriptor open_lock_file(const fs::path& path) {
    auto opened = base::try_open_regular(path, O_RDWR | O_CREAT, base::Links::refuse);
    if (!opened.kind.empty()) throw base::EnvironmentError(lock_sentence(path, opened.kind));
    if (!opened.file) throw_errno("open", path, opened.error);
    return std::move(opened.file);
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

void wait_for_lock(const Descriptor& descriptor, const fs::path& path, Waiting& waiting) {
    const auto holder = [&] {
        const std::string name = flock_holder(descriptor.get());
        return name.empty() ? std::string("another job") : name;
    };
    while (try_lock(descriptor, LOCK_EX | LOCK_NB) == Answer::others) {
        waiting.look(path, holder);
        waiting.pause();
    }
}

Descriptor locked(const fs::path& path, Waiting& waiting) {
    for (;;) {
        Descriptor descriptor = open_lock_file(path);
        wait_for_lock(descriptor, path, waiting);
        // Somebody may have tidied it away while we waited; then ours is a lock on nothing.
        if (is_named(descriptor, path)) return descriptor;
    }
}

}  // namespace

FileLock::FileLock(const fs::path& results_file, Waiting& waiting)
    : flock_(locked(lock_path(results_file), waiting)), owner_(results_file, waiting) {}

void FileLock::check_possible(const fs::path& results_file) {
    open_lock_file(lock_path(results_file));
    OwnerLock::check_possible(results_file);
}

}  // namespace ranklab::results
