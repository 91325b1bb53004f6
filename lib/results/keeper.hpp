// A run from its first numbers until it is stored: it lies alone on the disk meanwhile, as a results file of
// its own (docs/adr/0011-a-finished-run-has-an-owner.md).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "results/lock_wait.hpp"
#include "results/run.hpp"

namespace ranklab::results {

/// The last resort: stores the run alone in a fresh results file in the system's temporary folder (else the
/// working folder, the home folder or /dev/shm) and returns its path. EnvironmentError naming all places
/// tried if none takes it.
std::filesystem::path write_rescue(const Run& run);

class Keeper {
  public:
    /// `output`: the shared file, into which the run is to come.
    explicit Keeper(std::filesystem::path output) : output_(std::move(output)) {}

    /// Writes the run alone, in place of what was secured before: beside the shared file, as
    /// FILE.<run id>.pending.h5; else as write_rescue does. It is on the disk when this returns. Throws as
    /// write_rescue does; what was secured before is then still there.
    const std::filesystem::path& secure(const Run& run);

    /// Adds the run to the shared file (errors as of ResultFile::append), then removes what was secured.
    void store(const Run& run, const LockWait& wait);

    /// Where it lies; "" where nothing is secured, or it is stored.
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path rescued(const Run& run) const;
    void release() noexcept;

    std::filesystem::path output_;
    std::filesystem::path path_;
    base::Descriptor held_;  ///< a pending file, locked while this process lives
};

/// Whether the file bears the name of a run that waits to be stored.
bool is_pending(const std::filesystem::path& file);
/// Whether it belongs to a process that still works (as far as its lock reaches).
bool is_in_use(const std::filesystem::path& pending);
/// Of the shared file: the runs of processes that ended without storing them, as far as their locks reach:
/// one of another host may seem to have ended. Also removes what they left half written more than a day ago.
std::vector<std::filesystem::path> left_behind(const std::filesystem::path& output);
/// Those names, for a command line: "results/ranklab.h5.*.pending.h5".
std::string pending_pattern(const std::filesystem::path& output);
/// Removes a pending file whose runs are stored.
void forget(const std::filesystem::path& pending);

}  // namespace ranklab::results
