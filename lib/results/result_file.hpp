// The shared results file: many runs of many jobs in one HDF5 file (docs/results.md). A file
// is never changed in place: docs/adr/0001-results-file.md says how, and what that promises.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "results/run.hpp"

namespace ranklab::results {

/// How much of a run to read: `summaries` leaves samples and warm-up rows empty (much less memory;
/// `axis` and `columns` are then those of a measurement without samples).
/// `measurements` leaves tables empty too, which cost as much as the rest; `settings` measurements
/// as well: attributes and hosts.
enum class Detail { all, summaries, measurements, settings };

/// A run that cannot be read. The others of its file may be whole.
struct RunDamage : base::DataError {
    RunDamage(std::filesystem::path file, std::string id, std::string why);
    std::filesystem::path file;
    std::string id, why;
};

/// Seconds to wait for another process that holds a file's lock.
inline constexpr double kLockTimeout = 300;

/// A results file. Each error is one sentence. The output is a folder, a device or not a path, or a
/// file to read is missing: OptionError. The place is full, read-only or forbidden, or its lock
/// cannot be had: EnvironmentError. The file is not HDF5, is damaged, or has another schema:
/// DataError; RunDamage where it is a run. After any error the file is byte for byte what it was.
class ResultFile {
  public:
    explicit ResultFile(std::filesystem::path path);

    /// Before the work starts: makes the parent folders and checks what could make append fail,
    /// including room for `expected_bytes` more. Does not create the results file.
    void check_writable(std::uint64_t expected_bytes) const;

    /// Stores the runs, creating the file if need be: one lock, one copy. When this returns, they
    /// are on the disk. Their ids must be new to the file. Interrupted where a stop signal comes
    /// while the lock is waited for.
    void append(std::span<const Run> runs, double lock_timeout_s = kLockTimeout) const;
    void append(const Run& run, double lock_timeout_s = kLockTimeout) const {
        append(std::span(&run, 1), lock_timeout_s);
    }

    /// In the order stored, read without touching measurements.
    std::vector<RunHeader> runs() const;
    /// OptionError where there is no run of that id.
    Run read(const std::string& id, Detail detail = Detail::all) const;
    std::vector<Run> read_all(Detail detail = Detail::all) const;

    /// Visits one run after the other, in the order stored, without holding them all: those of
    /// which `wanted(run read as settings)` is true (all, where it is empty) are read in that
    /// detail and handed over.
    void visit(Detail detail, const std::function<bool(const Run&)>& wanted,
               const std::function<void(Run&&)>& take) const;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

/// Appends the runs to `output`. Where that fails, writes them to FILE.<first run's id>.h5 in its
/// folder, else in $TMPDIR (/tmp), and throws a sentence that says why, where they lie and how to
/// merge them: Interrupted where a signal ended the waiting for the lock, else EnvironmentError.
void store_or_set_apart(const std::filesystem::path& output, std::span<const Run> runs,
                        double lock_timeout_s = kLockTimeout);

}  // namespace ranklab::results
