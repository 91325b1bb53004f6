// The folder that a run of `ranklab io` writes into.
#pragma once

#include <filesystem>
#include <vector>

#include "base/handle.hpp"
#include "comm/communicator.hpp"
#include "experiments/storage/options.hpp"

namespace ranklab::experiments {

/// OptionError where the strategy would replace a data.h5 that holds other things than records. No change.
void check_files(const StorageOptions& options);

/// Made by rank 0, with those above it, unless it is there. Those that it made are removed at the end where
/// nothing is left in them, but for --keep. Both arguments outlive it.
class StorageFolder : base::Pinned {
  public:
    /// All ranks. OptionError or EnvironmentError where there can be no such folder, it cannot be written or
    /// has no room; DataError where it is only to be read and missing.
    StorageFolder(comm::Communicator& control, const StorageOptions& options);
    ~StorageFolder();

  private:
    void need_own_records() const;
    void need_records() const;
    void make(const std::filesystem::path& path);

    comm::Communicator& control_;
    const StorageOptions& options_;
    std::vector<std::filesystem::path> made_;  // innermost first
};

}  // namespace ranklab::experiments
