// The shared results file: runs of many jobs in one HDF5 file (docs/results.md). Appending replaces
// the file and never changes it in place (docs/adr/0001-results-file.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "results/run.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::results {

/// How much of a run to read.
enum class Detail {
    all,
    summaries,     ///< without samples and warm-up rows; `axis` and `columns` have their defaults
    measurements,  ///< without samples, warm-up rows and tables
    settings,      ///< attributes and hosts alone
    row            ///< as summaries, but of the tables only those that a row of a report needs
};

/// A run that cannot be read. Other runs of the file may be whole.
struct RunDamage : base::DataError {
    RunDamage(std::filesystem::path file, std::string id, std::string why);
    std::filesystem::path file;
    std::string id, why;
};

using vocabulary::kLockTimeout;

/// A results file. Any error leaves it unchanged, byte for byte. Throws OptionError if the output
/// is a folder, a device or empty, or if a file to read is missing. Throws EnvironmentError if
/// the disk is full or not writable, or if the lock is not free in time. Throws DataError if the
/// file is not HDF5, is damaged or has a different schema, RunDamage if one run is damaged.
class ResultFile {
  public:
    explicit ResultFile(std::filesystem::path path);

    /// To be called before the work starts: makes the parent folders and checks what could make
    /// append() fail, including room for `expected_bytes` more. Does not create the file.
    void check_writable(std::uint64_t expected_bytes) const;

    /// Stores the runs on the disk, and creates the file if it is missing. The runs' ids must be
    /// new to the file. Throws Interrupted if a stop signal ends the wait for the lock.
    void append(std::span<const Run> runs, double lock_timeout_s = kLockTimeout) const;
    void append(const Run& run, double lock_timeout_s = kLockTimeout) const {
        append(std::span(&run, 1), lock_timeout_s);
    }

    /// The headers in the order stored, without reading measurements.
    std::vector<RunHeader> runs() const;
    /// Throws OptionError if there is no run of that id.
    Run read(const std::string& id, Detail detail = Detail::all) const;
    std::vector<Run> read_all(Detail detail = Detail::all) const;

    /// Reads one run at a time, in the order stored, and passes it to `take`. `wanted` sees each
    /// run as Detail::settings first, and skips it by returning false; empty: takes all runs.
    void visit(Detail detail, const std::function<bool(const Run&)>& wanted,
               const std::function<void(Run&&)>& take) const;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

/// Appends the runs to `output`. If that fails, writes them to FILE.<first run's id>.h5 in its
/// folder, else in $TMPDIR (/tmp), and throws Interrupted (a signal ended the wait for the lock) or
/// EnvironmentError with the reason, that file's name and the command that merges it.
void store_or_set_apart(const std::filesystem::path& output, std::span<const Run> runs,
                        double lock_timeout_s = kLockTimeout);

struct Inspection {
    std::size_t runs = 0;         ///< damaged ones included
    std::uint64_t bytes = 0;      ///< size of the file
    std::set<std::string> whole;  ///< ids of undamaged runs
    std::vector<RunDamage> damaged;
};

/// Reads every run. Throws like ResultFile::read if the file itself cannot be read.
Inspection inspect(const std::filesystem::path& file);

// Runs are merged and exported as HDF5 objects, which keeps data of other ranklab versions.

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
