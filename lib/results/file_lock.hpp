// The lock that writers of one results file hold. It is two, one inside the other
// (docs/adr/0009-two-locks.md): flock on FILE.lock beside it, which waits without asking again and which the
// kernel drops with the process; and FILE.owner.lock (owner_lock.hpp), for those whom the flock does not
// reach, or who have none. FILE.lock stays: removing it would let two writers lock two different files of
// that name.
#pragma once

#include <filesystem>

#include "results/lock_wait.hpp"
#include "results/owner_lock.hpp"
#include "results/places.hpp"

namespace ranklab::results {

class FileLock {
  public:
    /// Waits until the lock is ours, as `waiting` says. EnvironmentError where the lock files cannot be made,
    /// or are no regular files: a link in their place is not followed, a FIFO not waited for.
    FileLock(const std::filesystem::path& results_file, Waiting& waiting);

    /// Ask before the file is replaced: false where others took us for dead and the lock is lost.
    bool still_ours() const { return owner_.still_ours(); }

    /// Whether such a lock could be taken, without waiting for one. Throws as the constructor does.
    static void check_possible(const std::filesystem::path& results_file);

  private:
    Descriptor flock_;  // before the other, which those who hold no flock may have
    OwnerLock owner_;
};

}  // namespace ranklab::results
