#include "results/replace.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <fstream>
#include <string_view>
#include <thread>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/pinned.hpp"
#include "base/progress.hpp"
#include "base/regular_file.hpp"
#include "base/stop_signals.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// "process 123 (ranklab-io)", from the line of /proc/locks about that inode.
std::string holder_of(const Descriptor& file) {
    struct stat status {};
    std::string wanted;
    if (::fstat(file.get(), &status) == 0)
        wanted = fmt::format("{:02x}:{:02x}:{}", major(status.st_dev), minor(status.st_dev), status.st_ino);
    std::ifstream locks("/proc/locks");
    std::string number, kind, advice, access, inode, rest;
    long pid = 0;
    while (locks >> number >> kind) {  // a line with an arrow is about one who waits
        if (kind == "FLOCK" && locks >> advice >> access >> pid >> inode && inode == wanted && pid > 0) {
            std::string name;
            std::getline(std::ifstream(fmt::format("/proc/{}/comm", pid)), name);
            return fmt::format("process {} ({})", pid, name);
        }
        locks.clear();
        std::getline(locks, rest);
    }
    return "another job";
}

class LockWait {
  public:
    LockWait(const fs::path& target, double most_s) : target_(target), most_s_(most_s) {}

    void lock(const Descriptor& file) {
        while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
            if (errno == EINTR) continue;
            if (errno != EWOULDBLOCK) check_lockable(file, target_);
            look(file);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }

  private:
    void look(const Descriptor& file) {
        base::count_progress();
        if (const int signal = base::StopSignals::received(); signal != 0)
            throw base::Interrupted(fmt::format("stopped by {} while waiting for the lock of {}",
                                                base::StopSignals::name_of(signal), target_.string()),
                                    signal);
        const double waited = base::seconds_since(begin_);
        if (waited >= most_s_)
            throw base::EnvironmentError(fmt::format("{} has held the lock of {} for {:.0f} s or longer",
                                                     holder_of(file), target_.string(), waited),
                                         {"lock-timeout"});
        if (told_ || waited < 0.5) return;
        told_ = true;
        base::log::info(fmt::format("waiting for {}, which holds the lock of {}; {:.0f} s at most",
                                    holder_of(file), target_.string(), most_s_));
    }

    const fs::path& target_;
    double most_s_;
    Clock::time_point begin_ = Clock::now();
    bool told_ = false;
};

bool is_named(const Descriptor& file, const fs::path& path) {
    struct stat ours {};
    struct stat theirs {};
    return ::fstat(file.get(), &ours) == 0 && ::lstat(path.c_str(), &theirs) == 0 &&
           ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

// A lock file of another user may be open to read alone.
Descriptor open_lock_file(const fs::path& path, const fs::path& target) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    const int error = errno;
    if (!file && error == EACCES) file.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    const bool is_gone = !file && errno == ENOENT &&  // since the first try
                         ::faccessat(AT_FDCWD, path.parent_path().c_str(), W_OK, AT_EACCESS) == 0;
    if (!file && !is_gone) throw_errno("open", target, error);
    return file;
}

// FILE.lock, there while it is held: its holder removes it, and a lock on a file that has lost the name does
// not count. The results file itself stays unlocked, since h5py locks what it reads.
class Lock : base::Pinned {
  public:
    Lock(const fs::path& target, LockWait wait) : path_(target.string() + ".lock") {
        do {
            file_ = open_lock_file(path_, target);
            if (file_) wait.lock(file_);
        } while (!file_ || !is_named(file_, path_));
    }
    ~Lock() { ::unlink(path_.c_str()); }

  private:
    fs::path path_;
    Descriptor file_;
};

// HDF5 quotes the system's error as "errno = 28"; 0 where the failure was not the system's.
int system_error_in(std::string_view text) {
    constexpr std::string_view kMark = "errno = ";
    const std::size_t mark = text.find(kMark);
    int error = 0;
    if (mark != std::string_view::npos)
        std::from_chars(text.data() + mark + kMark.size(), text.data() + text.size(), error);
    return error;
}

void fill_with(const std::function<void(const Staging&)>& fill, const Staging& staging) {
    try {
        fill(staging);
    } catch (const base::Hdf5Error& error) {
        if (const int reason = system_error_in(error.what()); reason != 0)
            throw_errno("HDF5", staging.target, reason);
        throw base::DataError(
            fmt::format("{}: HDF5 cannot make its next version; `ranklab results check` says "
                        "which runs are damaged ({})",
                        staging.target.string(), error.what()));
    }
}

}  // namespace

bool results_file_exists(const fs::path& path) {
    const std::string kind = base::irregular_kind(path);
    if (!kind.empty())
        throw base::OptionError(fmt::format(
            "{} is {}, not a results file: name a file, such as results/ranklab.h5", path.string(), kind));
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) return true;
    if (errno != ENOENT) base::throw_read_errno("stat", path, errno);
    return false;
}

void check_lockable(const Descriptor& file, const fs::path& target) {
    if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0 || errno == EWOULDBLOCK || errno == EINTR) return;
    throw base::EnvironmentError(
        fmt::format("{}: its file system has no file locks (flock: {}); name a file on another",
                    target.string(), std::generic_category().message(errno)),
        {"output"});
}

void replace(const fs::path& path, double lock_timeout_s, const std::function<void(const Staging&)>& fill) {
    const fs::path target = resolve(path);
    static_cast<void>(results_file_exists(target));  // no lock beside a device or a folder
    make_parent_folders(target);
    const Lock lock(target, LockWait(target, lock_timeout_s));
    remove_leftovers(target);
    StagedFile staged(target);
    fill_with(fill, {target, staged, !results_file_exists(target)});
    staged.commit();
}

}  // namespace ranklab::results
