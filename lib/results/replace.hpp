// Private to this room: the one way in which a results file changes.
#pragma once

#include <filesystem>
#include <functional>

#include "results/staged_file.hpp"

namespace ranklab::results {

/// `fill` writes the next version of `target` (links resolved) into `staged`; `fresh`: there is no file yet.
struct Staging {
    const std::filesystem::path& target;
    StagedFile& staged;
    bool fresh;
};

/// Locks the file, has `fill` write its next version beside it, and puts that in its place in one step.
/// EnvironmentError where another process holds the lock for longer than `lock_timeout_s`; Interrupted where
/// a stop signal comes while the lock is waited for. After any error the file is what it was.
void replace(const std::filesystem::path& path, double lock_timeout_s,
             const std::function<void(const Staging&)>& fill);

/// Whether there is a regular file. OptionError where there is a folder, a device or a pipe.
bool results_file_exists(const std::filesystem::path& path);

/// EnvironmentError where the file system of that open file has no locks.
void check_lockable(const Descriptor& file, const std::filesystem::path& target);

}  // namespace ranklab::results
