// A file that all ranks write and that gets its name only once it is whole: it is written in the
// same folder under a temporary name, and renamed at the end.
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

/// To be called before any work: OptionError where `target` is there already (unless `force`) or is
/// not a file name, EnvironmentError where its folder is missing, may not be written to or has less
/// than `bytes` free. For one rank; it changes nothing.
void check_output(const std::filesystem::path& target, bool force, std::uint64_t bytes);

class OutputFile {
  public:
    /// Collective. Rank 0 makes the empty file `.NAME.<16 hex digits>.tmp` next to `target`, after
    /// check_output.
    OutputFile(comm::Communicator& control, std::filesystem::path target, bool force,
               std::uint64_t bytes);

    const std::filesystem::path& path() const { return path_; }  ///< where to write until commit()

    /// Reserves room, where the file system can, for the present file and `more` bytes, so that a
    /// full disk is found now. Returns the file's size, which stays. For one rank.
    std::uint64_t reserve(std::uint64_t more);
    /// pwrite: each rank writes parts of its own. EnvironmentError, with the target's name.
    void write(std::uint64_t offset, std::span<const std::byte> bytes);
    /// Collective. What the ranks wrote is on the disk, and the file bears its name.
    void commit();

  private:
    const base::Descriptor& descriptor();

    comm::Communicator& control_;
    std::filesystem::path target_;
    std::filesystem::path path_;
    std::optional<results::StagedFile> staged_;  // rank 0's: removed unless committed
    base::Descriptor descriptor_;
};

}  // namespace ranklab::data
