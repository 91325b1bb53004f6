// Checks, merges and thins out whole results files. Runs are copied as they lie in the file, so
// that data of other versions of ranklab is kept. A file that changes is replaced as by an append:
// whole, under its lock, or not at all; runs that others append meanwhile stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "results/result_file.hpp"

namespace ranklab::results {

/// A run that cannot be read, and what HDF5 or the schema says.
struct DamagedRun {
    std::string id;
    std::string what;
};

struct Inspection {
    std::size_t runs = 0;         ///< the damaged ones included
    std::uint64_t bytes = 0;      ///< of the file
    std::set<std::string> whole;  ///< ids
    std::vector<DamagedRun> damaged;
};

/// Reads every run. Errors as of ResultFile::read where the file as a whole cannot be read.
Inspection inspect(const std::filesystem::path& file);

/// The outcome of merging one file.
struct Merged {
    std::filesystem::path file;
    std::size_t added = 0;
    std::size_t known = 0;  ///< the run was there already
};

/// Adds the runs of `files` to `out` (made if need be), in the order of their start, after its own.
/// A run whose id is there already is the same run. Any error leaves `out` as it was.
std::vector<Merged> merge(const std::filesystem::path& out,
                          const std::vector<std::filesystem::path>& files,
                          double lock_timeout_s = kLockTimeout);

/// Writes those runs of `file` into `out`, in their order. OptionError where `out` exists.
void export_runs(const std::filesystem::path& file, const std::set<std::string>& ids,
                 const std::filesystem::path& out, double lock_timeout_s = kLockTimeout);

/// Takes those runs out of the file and gives their room back.
void remove_runs(const std::filesystem::path& file, const std::set<std::string>& ids,
                 double lock_timeout_s = kLockTimeout);

}  // namespace ranklab::results
