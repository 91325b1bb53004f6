#include "results/owner_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/regular_file.hpp"
#include "base/whole_io.hpp"
#include "results/staged_file.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// A lock file at one moment; two looks that differ say that its owner lives.
struct Seen {
    ino_t inode = 0;
    timespec time{};
    std::string text;

    bool operator==(const Seen& other) const {
        return inode == other.inode && time.tv_sec == other.time.tv_sec &&
               time.tv_nsec == other.time.tv_nsec && text == other.text;
    }
};

std::string read_text(const Descriptor& file) {
    std::array<char, 1024> bytes{};
    return {bytes.data(), base::read_whole_at(file.get(), bytes, 0).value_or(0)};
}

// nullopt: there is none. It is opened, since NFS asks its server again on open, not on stat. One that we may
// not read is known by its time alone. A link is not followed: a lock is never one, and where it leads to
// nothing, it would seem to be free and could not be taken.
std::optional<Seen> look(const fs::path& path) {
    const auto opened = base::try_open_regular(path, O_RDONLY, base::Links::refuse);
    if (!opened.kind.empty()) throw base::EnvironmentError(lock_sentence(path, opened.kind));
    struct stat status {};
    const bool there = opened.file ? ::fstat(opened.file.get(), &status) == 0
                                   : opened.error == EACCES && ::lstat(path.c_str(), &status) == 0;
    if (!there) {
        const int error = opened.file || opened.error == EACCES ? errno : opened.error;
        if (error == ENOENT || error == ESTALE) return std::nullopt;
        throw_errno("open", path, error);
    }
    return Seen{status.st_ino, status.st_mtim, opened.file ? read_text(opened.file) : ""};
}

// Follows one lock file while somebody waits for it.
class Watch {
  public:
    explicit Watch(std::chrono::milliseconds stale) : stale_(stale) {}

    bool abandoned(const Seen& now) {
        const auto owner = Owner::parse(now.text);
        const auto state = owner ? owner->state() : Owner::State::elsewhere;
        if (!last_ || !(*last_ == now)) {
            last_ = now;
            since_ = Clock::now();
        }
        if (state != Owner::State::elsewhere) return state == Owner::State::dead;
        return Clock::now() - since_ >= stale_;
    }

  private:
    std::chrono::milliseconds stale_;
    std::optional<Seen> last_;
    Clock::time_point since_ = Clock::now();
};

// Of another host or container the lock alone tells: it may have been left by one that was killed.
std::string holder_of(const Seen& seen) {
    const auto owner = Owner::parse(seen.text);
    if (!owner) return "another job";
    if (owner->state() != Owner::State::elsewhere) return owner->name();
    return fmt::format("{} (so the lock says; {} cannot see whether that still works)", owner->name(),
                       Owner::self().host);
}

void tell_of_taking_over(const std::string& text, const fs::path& lock, std::chrono::milliseconds stale) {
    const auto owner = Owner::parse(text);
    if (!owner || owner->state() != Owner::State::elsewhere) return;
    base::log::info(fmt::format(
        "{} has not refreshed its lock {} for {:.0f} s; {} cannot see whether it still works, and "
        "takes the lock over",
        owner->name(), lock.string(), std::chrono::duration<double>(stale).count(), Owner::self().host));
}

// Takes the abandoned lock away. Of several who try, one renames it; who finds that he has renamed a newer
// one (he was slow, and it was taken meanwhile) gives it back, and should that fail, its owner sees that the
// lock is not his before he changes the file (still_ours).
void remove_abandoned(const fs::path& path, const Seen& abandoned, const fs::path& target,
                      std::chrono::milliseconds stale) {
    const fs::path aside = temporary_beside(target);
    if (::rename(path.c_str(), aside.c_str()) != 0) {
        if (errno == ENOENT) return;
        throw_errno("rename", path, errno);
    }
    const auto taken = look(aside);
    if (taken && taken->text == abandoned.text)
        tell_of_taking_over(taken->text, path, stale);
    else if (taken)
        static_cast<void>(::link(aside.c_str(), path.c_str()) == 0);
    ::unlink(aside.c_str());
}

// A full disk shows here first: the sentence names the results file, whose user knows of no lock.
void write_owner(const Descriptor& file, const std::string& text, const fs::path& made,
                 const fs::path& target) {
    if (base::write_whole_at(file.get(), text, 0)) return;
    const int error = errno;
    ::unlink(made.c_str());
    throw_errno("write", target, error);
}

fs::path owner_path(const fs::path& results_file) {
    return results_file.string() + ".owner.lock";
}

Descriptor create(const fs::path& path) {
    return Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
}

}  // namespace

OwnerLock::OwnerLock(const fs::path& results_file, Waiting& waiting, Pace pace)
    : target_(results_file), path_(owner_path(results_file)), text_(Owner::self().text()) {
    Watch watch(pace.stale);
    while (!try_take()) {
        const auto seen = look(path_);
        if (seen && watch.abandoned(*seen)) {
            remove_abandoned(path_, *seen, target_, pace.stale);
            continue;
        }
        waiting.look(path_, [&] { return seen ? holder_of(*seen) : std::string("another job"); });
        if (seen) waiting.pause();
    }
    try {
        // A lock that is lost shows elsewhere.
        heart_.emplace(pace.beat,
                       [this](double) { static_cast<void>(::futimens(descriptor_.get(), nullptr)); });
    } catch (const std::system_error&) {  // no more threads: an append is shorter than `stale` all the same
    }
}

OwnerLock::~OwnerLock() {
    heart_.reset();
    try {
        if (still_ours()) ::unlink(path_.c_str());
    } catch (...) {  // the folder is gone: so is the lock
    }
}

void OwnerLock::check_possible(const fs::path& results_file) {
    static_cast<void>(look(owner_path(results_file)));
}

bool OwnerLock::still_ours() const {
    const auto seen = look(path_);
    return seen && seen->text == text_;
}

bool OwnerLock::try_take() {
    if (look(path_)) return false;  // cheaper than to try
    return take_by_link();
}

// The file bears its owner's name from its first moment on: it is made aside and then linked. The temporary
// is one of those that a holder of the lock tidies away; should that hit us, we try again.
bool OwnerLock::take_by_link() {
    const fs::path aside = temporary_beside(target_);
    descriptor_ = create(aside);
    if (!descriptor_) throw_errno("open", target_, errno);
    write_owner(descriptor_, text_, aside, target_);
    const int error = ::link(aside.c_str(), path_.c_str()) == 0 ? 0 : errno;
    struct stat status {};
    // Over a network the answer may be lost, and the link be there.
    const bool linked = error == 0 || (::fstat(descriptor_.get(), &status) == 0 && status.st_nlink == 2);
    ::unlink(aside.c_str());
    if (linked) return true;
    if (error == EPERM || error == EOPNOTSUPP || error == ENOSYS || error == EMLINK)
        return take_by_creating();
    if (error == EEXIST || error == ENOENT) return false;
    throw_errno("link", target_, error);
}

// Where there are no hard links. Killed between the two calls, this leaves a lock without an owner, which
// takes `stale` to go.
bool OwnerLock::take_by_creating() {
    descriptor_ = create(path_);
    if (!descriptor_ && errno == EEXIST) return false;
    if (!descriptor_) throw_errno("open", path_, errno);
    write_owner(descriptor_, text_, path_, target_);
    return true;
}

std::string lock_sentence(const fs::path& lock, const std::string& kind) {
    return fmt::format("{} is {}, where the lock of the results file must be a regular file; remove it",
                       lock.string(), kind);
}

}  // namespace ranklab::results
