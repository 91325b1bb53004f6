// The shared results file: many runs of many jobs in one HDF5 file (docs/results.md). A file
// is never changed in place: docs/adr/0001-results-file.md says how, and what that promises.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "results/lock_wait.hpp"
#include "results/run.hpp"

namespace ranklab::results {

/// How much of a run to read: `summaries` leaves samples and warm-up rows empty (much less memory;
/// `axis` and `columns` are then those of a measurement without samples).
/// `measurements` leaves tables empty too, which cost as much as the rest; `settings` measurements as well:
/// attributes and hosts.
enum class Detail { all, summaries, measurements, settings };

/// A run that cannot be read. The others of its file may be whole.
struct RunDamage : base::DataError {
    RunDamage(std::filesystem::path file, std::string id, std::string why);
    std::filesystem::path file;
    std::string id, why;
};

/// Errors, each one sentence. The output is a folder, a device or no path at all, or a file to read
/// is missing: OptionError. The place is full, read-only or forbidden, or has no file locks:
/// EnvironmentError. The file is not HDF5, is damaged, or has another schema: DataError; RunDamage where
/// it is a run. After any
/// error the file is byte for byte what it was.
class ResultFile {
  public:
    explicit ResultFile(std::filesystem::path path);

    /// Before the work starts: makes the parent folders and checks what could make append fail,
    /// including room for `expected_bytes` more. Does not create the results file.
    void prepare(std::uint64_t expected_bytes) const;

    /// Stores the run, creating the file if need be. When this returns, the run is on the disk.
    /// Waits for other writers as `wait` says. The id must be new to the file.
    void append(const Run& run, const LockWait& wait = {}) const;

    /// In the order stored, read without touching measurements.
    std::vector<RunHeader> runs() const;
    /// OptionError where there is no run of that id.
    Run read(const std::string& id, Detail detail = Detail::all) const;
    std::vector<Run> read_all(Detail detail = Detail::all) const;

    /// One run after the other, in the order stored, without holding them all: those of which
    /// `wanted(run read as settings)` is true (all, where it is empty) are read in that detail and handed
    /// over.
    void visit(Detail detail, const std::function<bool(const Run&)>& wanted,
               const std::function<void(Run&&)>& take) const;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace ranklab::results
