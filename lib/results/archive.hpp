// Checks and merges results files. Runs are copied as HDF5 objects, which keeps data of
// other ranklab versions. A changed file is replaced under its lock, as by ResultFile::append.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "results/result_file.hpp"

namespace ranklab::results {

struct Inspection {
    std::size_t runs = 0;         ///< damaged ones included
    std::uint64_t bytes = 0;      ///< size of the file
    std::set<std::string> whole;  ///< ids of undamaged runs
    std::vector<RunDamage> damaged;
};

/// Reads every run. Throws like ResultFile::read if the file itself cannot be read.
Inspection inspect(const std::filesystem::path& file);

/// What merging one file did.
struct Merged {
    std::filesystem::path file;
    std::size_t added = 0;
    std::size_t known = 0;  ///< runs whose id was in the output already
};

/// Appends the runs of `files` to `out`, ordered by their start, and skips runs whose id `out` has.
/// Creates `out` if it is missing. Any error leaves `out` unchanged.
std::vector<Merged> merge(const std::filesystem::path& out,
                          const std::vector<std::filesystem::path>& files,
                          double lock_timeout_s = kLockTimeout);

/// Writes the runs with these ids into the new file `out`. Throws OptionError if `out` exists.
void export_runs(const std::filesystem::path& file, const std::set<std::string>& ids,
                 const std::filesystem::path& out, double lock_timeout_s = kLockTimeout);

}  // namespace ranklab::results
