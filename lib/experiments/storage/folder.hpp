// The folder that a run of `ranklab io` writes into, and whether there is room in it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/handle.hpp"
#include "comm/communicator.hpp"
#include "experiments/storage/options.hpp"

namespace ranklab::experiments {

/// The most that a run has on the file system at once.
struct Footprint {
    long double records = 0;  ///< bytes of one strategy's records
    std::string arithmetic;   ///< "15 x 100 x 100 x 8 B = 1.2 MB"
};
Footprint footprint(const io::Job& job, const io::StrategyEntry& strategy);

/// OptionError, with the arithmetic, where the records can never fit into the file system, or one
/// of them not into memory. Changes nothing.
void check_fits(const StorageOptions& options);

/// OptionError where the strategy would replace a file that is not ranklab's. No change.
void check_files(const StorageOptions& options);

/// Rank 0 makes the folder and its parents where they are missing, and removes those that it made
/// at the end if they are empty, but for --keep. Both arguments outlive it.
class StorageFolder : base::Immovable {
  public:
    /// Collective. OptionError or EnvironmentError where the folder is impossible, cannot be
    /// written or has no room; DataError where it is only to be read and missing.
    StorageFolder(comm::Communicator& control, const StorageOptions& options);
    ~StorageFolder();

  private:
    void make(const std::filesystem::path& path);

    comm::Communicator& control_;
    const StorageOptions& options_;
    std::vector<std::filesystem::path> made_;  // innermost first
};

}  // namespace ranklab::experiments
