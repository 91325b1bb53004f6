#include "results/access.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/handle.hpp"
#include "base/log.hpp"
#include "base/progress.hpp"
#include "base/stop_signals.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

struct LockWait {
    const fs::path& target;
    double most_s;
    std::string who;  // "another job, which holds the lock r.h5.lock"
    base::Clock::time_point begin = base::Clock::now();
    bool announced = false;

    void lock(const Descriptor& file, int how) {
        while (::flock(file.get(), how | LOCK_NB) != 0) {
            if (errno == EINTR) continue;
            if (errno != EWOULDBLOCK) check_lockable(file, target);
            check();
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }

    void check() {
        base::count_progress();
        if (const int signal = base::StopSignals::received(); signal != 0)
            throw base::Interrupted(
                fmt::format("stopped by {} while waiting for the lock of {}",
                            base::StopSignals::name_of(signal), target.string()),
                signal);
        const double waited = base::seconds_since(begin);
        if (waited >= most_s)
            throw base::EnvironmentError(
                fmt::format("waited {:.0f} s for {} (fuser names its process)", waited, who),
                {"lock-timeout"});
        if (announced || waited < 0.5) return;
        announced = true;
        base::log::info(fmt::format("waiting for {}; {:.0f} s at most", who, most_s));
    }
};

bool is_named(const Descriptor& file, const fs::path& path) {
    struct stat ours {};
    struct stat theirs {};
    return ::fstat(file.get(), &ours) == 0 && ::lstat(path.c_str(), &theirs) == 0 &&
           ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

// The mode of ranklab's lock files, which other users of the folder may lock, too. The sticky bit,
// which the system ignores for files, marks them: a user's own file of this name is not removed.
constexpr mode_t kLockMode = 01666;

fs::path lock_of(const fs::path& target) {
    return target.string() + ".lock";
}

// Opens a lock file. Without O_CREAT the descriptor is empty if there is no file.
Descriptor open_lock(const fs::path& path, int flags = 0) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, kLockMode));
    struct stat status {};
    if (!file && errno == ENOENT && flags == 0) return file;
    if (!file || ::fstat(file.get(), &status) != 0) throw_errno("open", path, errno);
    if (!S_ISREG(status.st_mode))
        throw base::OptionError(base::irregular_sentence(path, base::irregular_kind(path)),
                                {"output"});
    if ((status.st_mode & S_ISVTX) != 0)  // the umask may have taken permissions away
        static_cast<void>(::fchmod(file.get(), kLockMode) == 0);
    return file;
}

// Holds the lock file FILE.lock, and removes it when done if it is ranklab's own. A lock on a file
// that was removed meanwhile does not count.
class Lock : base::Immovable {
  public:
    Lock(const fs::path& target, double most_s) : path_(lock_of(target)) {
        LockWait wait{target, most_s,
                      fmt::format("another job, which holds the lock {}", path_.string())};
        do {
            file_ = open_lock(path_, O_CREAT);
            wait.lock(file_, LOCK_EX);
        } while (!is_named(file_, path_));
    }
    ~Lock() {
        struct stat status {};
        if (::fstat(file_.get(), &status) == 0 && (status.st_mode & S_ISVTX) != 0)
            ::unlink(path_.c_str());
    }

  private:
    fs::path path_;
    Descriptor file_;
};

// Takes a shared lock of the file, which waits for programs that have it open for writing (HDF5
// then locks it exclusively): replacing the file would lose their changes.
Descriptor locked_against_writers(const fs::path& target, double most_s) {
    Descriptor file(::open(target.c_str(), O_RDONLY | O_CLOEXEC));
    const std::string who =
        fmt::format("another program, which has {} open for writing", target.string());
    if (file) LockWait{target, most_s, who}.lock(file, LOCK_SH);
    return file;
}

}  // namespace

bool results_file_exists(const fs::path& path) {
    const std::string kind = base::irregular_kind(path);
    if (!kind.empty())
        throw base::OptionError(
            fmt::format("{} is {}, not a results file; name a file, such as results/ranklab.h5",
                        path.string(), kind));
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) return true;
    if (errno != ENOENT) base::throw_read_errno("stat", path, errno);
    return false;
}

hdf5::File open_results(const fs::path& path) {
    if (!results_file_exists(path))
        throw base::OptionError(
            fmt::format("there is no results file {}; check the name", path.string()));
    if (!hdf5::is_hdf5(path))
        throw base::DataError("this is not an HDF5 file, so not a results file; name another");
    hdf5::File file = hdf5::File::open_to_read(path);
    check_schema(file);
    return file;
}

void check_lock_file(const fs::path& target) {
    static_cast<void>(open_lock(lock_of(target)));
}

void check_lockable(const Descriptor& file, const fs::path& target) {
    if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0 || errno == EWOULDBLOCK || errno == EINTR)
        return;
    throw base::EnvironmentError(
        fmt::format(
            "{}: its file system has no file locks (flock: {}); name a file on another file system",
            target.string(), std::generic_category().message(errno)),
        {"output"});
}

void replace(const fs::path& path, double lock_timeout_s,
             const std::function<void(StagedFile& staged, bool fresh)>& fill) {
    const fs::path target = resolve(path);
    static_cast<void>(results_file_exists(target));  // refuses devices and folders before locking
    base::make_folders(target.parent_path());
    const Lock lock(target, lock_timeout_s);
    const Descriptor file = locked_against_writers(target, lock_timeout_s);
    remove_leftovers(target);
    StagedFile staged(target);
    try {
        fill(staged, !results_file_exists(target));
    } catch (const base::Hdf5Error& error) {
        throw base::EnvironmentError(
            fmt::format("{}: HDF5 cannot write the new version; check for a full disk, or for "
                        "damaged runs by `ranklab results check` ({})",
                        target.string(), error.what()));
    }
    staged.commit();
}

}  // namespace ranklab::results
