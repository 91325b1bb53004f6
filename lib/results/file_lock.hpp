// The lock that writers of one results file hold: flock on FILE.lock beside it, which holds between
// jobs and hosts (where the file system carries locks) and which the kernel drops with the process.
// The lock file stays: removing it would let two writers lock two different files of that name.
#pragma once

#include <filesystem>

#include "results/places.hpp"

namespace ranklab::results {

class FileLock {
  public:
    /// Waits until the lock is ours; after 2 s a line on the log says so. EnvironmentError where the
    /// lock file cannot be made or the file system has no locks.
    explicit FileLock(const std::filesystem::path& results_file);

    /// Whether such a lock could be taken, without waiting for one. Throws as the constructor does.
    static void check_possible(const std::filesystem::path& results_file);

  private:
    Descriptor descriptor_;
};

}  // namespace ranklab::results
