// A file that all ranks write under a temporary name in the target's folder; commit() renames it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "base/files.hpp"
#include "comm/communicator.hpp"
#include "results/staged_file.hpp"

namespace ranklab::data {

/// Throws OptionError if `target` exists (unless `force`) or is not a file name, EnvironmentError
/// if its folder is missing, not writable or has less than `bytes` free. Call it on one rank,
/// before any work.
void check_output(const std::filesystem::path& target, bool force, std::uint64_t bytes);

class OutputFile {
  public:
    /// Collective. After check_output, rank 0 creates `.NAME.<16 hex digits>.tmp` beside `target`.
    OutputFile(comm::Communicator& control, std::filesystem::path target, bool force,
               std::uint64_t bytes);

    const std::filesystem::path& path() const { return path_; }  ///< the temporary name

    /// Reserves disk space for the present file and `more` bytes, if the file system can, so that a
    /// full disk or quota fails now. Returns the file's size, which does not change. To be called
    /// by one rank.
    std::uint64_t reserve(std::uint64_t more);
    /// pwrite; each rank writes its own parts. Throws EnvironmentError with the target's name.
    void write(std::uint64_t offset, std::span<const std::byte> bytes);
    /// Collective. Syncs all ranks' bytes to the disk and renames the file to `target`.
    void commit();

  private:
    const base::Descriptor& descriptor();

    comm::Communicator& control_;
    std::filesystem::path target_;
    std::filesystem::path path_;
    std::optional<results::StagedFile> staged_;  // on rank 0; removes the file unless committed
    base::Descriptor descriptor_;
};

}  // namespace ranklab::data
