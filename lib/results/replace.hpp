// Private to this room: the one way in which a results file changes.
#pragma once

#include <filesystem>
#include <functional>

#include "results/lock_wait.hpp"
#include "results/staged_file.hpp"

namespace ranklab::results {

/// Holds the file's lock, has `fill` write what shall take its place into `staged` (`fresh`: there is no file
/// yet), and puts it there in one step. `fill` works on `target`, links resolved. Where somebody changed the
/// file meanwhile, which only the loss of the lock makes possible, fill is called again with a new `staged`.
struct Staging {
    const std::filesystem::path& target;
    StagedFile& staged;
    bool fresh;
};
void replace(const std::filesystem::path& path, const std::function<void(const Staging&)>& fill,
             const LockWait& wait = {});

}  // namespace ranklab::results
