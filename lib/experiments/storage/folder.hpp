// The folder in which `ranklab io` writes, and whether the records fit.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/handle.hpp"
#include "comm/communicator.hpp"
#include "experiments/storage/options.hpp"

namespace ranklab::experiments {

/// What one strategy's records take on the file system.
struct Footprint {
    long double records = 0;  ///< bytes
    std::string arithmetic;   ///< "15 records x 100 x 100 values x 8 B = 1.1 MiB"
};
Footprint footprint(const io::Job& job, const io::StrategyEntry& strategy);

/// Throws OptionError if the records can never fit into the file system.
void check_fits(const StorageOptions& options);

/// Throws OptionError if the strategy would replace a file that ranklab io did not write: the
/// folder then lacks the mark .ranklab-io with the file's extension.
void check_files(const StorageOptions& options);

/// Makes the folder and missing parents, and marks the folder as ranklab's. The destructor removes
/// the mark unless records are left and, without --keep, the folders that the constructor made if
/// they are empty. Both arguments must outlive the object.
class StorageFolder : base::Immovable {
  public:
    /// Throws OptionError or EnvironmentError if the folder cannot be made or written, or has no
    /// room; with --read-only DataError if the folder or the first file is missing. Collective.
    StorageFolder(comm::Communicator& control, const StorageOptions& options);
    ~StorageFolder();

  private:
    void make(const std::filesystem::path& path);

    comm::Communicator& control_;
    const StorageOptions& options_;
    std::vector<std::filesystem::path> made_;  // innermost first
};

}  // namespace ranklab::experiments
