// Private to this room: a lock that needs nothing of the file system but that one of two who make the same
// name fails. It holds where flock does not: on file systems without it, between two hosts whose flock is
// each one's own (Lustre's localflock, NFS's nolock), and between an NFS server and its clients.
// docs/adr/0009-two-locks.md.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "base/ticker.hpp"
#include "results/lock_wait.hpp"
#include "results/owner.hpp"
#include "results/places.hpp"

namespace ranklab::results {

/// The file FILE.owner.lock with the owner inside; there while it is held. The owner refreshes its time
/// every `beat`. One who waits removes it when the owner is dead, or, where that cannot be seen (another
/// host), when it was not refreshed for `stale` by the waiting one's own clock: no two clocks are compared.
class OwnerLock {
  public:
    struct Pace {
        std::chrono::milliseconds beat{3000};
        std::chrono::milliseconds stale{30000};
    };

    /// Waits until the lock is ours, as `waiting` says.
    OwnerLock(const std::filesystem::path& results_file, Waiting& waiting)
        : OwnerLock(results_file, waiting, Pace{}) {}
    OwnerLock(const std::filesystem::path& results_file, Waiting& waiting, Pace pace);
    ~OwnerLock();

    /// EnvironmentError where something else than such a lock bears its name.
    static void check_possible(const std::filesystem::path& results_file);

    /// False where somebody took us for dead (the process was stopped, or its network, for longer than
    /// `stale`) and removed the lock.
    bool still_ours() const;

  private:
    bool try_take();
    bool take_by_link();
    bool take_by_creating();

    std::filesystem::path target_;
    std::filesystem::path path_;
    std::string text_;
    Descriptor descriptor_;
    std::optional<base::Ticker> heart_;  // last: it uses the others
};

/// Of something that lies where a lock file must: "x.lock is a FIFO (named pipe)...".
std::string lock_sentence(const std::filesystem::path& lock, const std::string& kind);

}  // namespace ranklab::results
