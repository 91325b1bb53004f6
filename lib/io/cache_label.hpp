// Whether a read was cold, warm or mixed, by measurements. docs/writing.md has the rules.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/files.hpp"
#include "base/numbers.hpp"
#include "comm/communicator.hpp"
#include "vocabulary/facts.hpp"

namespace ranklab::io {

/// The part of one or several files in the page cache.
struct Residency {
    std::uint64_t bytes = 0;  ///< size of the files
    std::uint64_t resident =
        0;  ///< bytes in this node's page cache, in whole pages, at most `bytes`

    /// 0 for empty files.
    double share() const { return bytes == 0 ? 0 : base::real(resident) / base::real(bytes); }
    Residency& operator+=(const Residency& other) {
        bytes += other.bytes;
        resident += other.resident;
        return *this;
    }
};

/// Asks mincore(2). Returns nullopt if it fails or may lie: to a process that neither owns the file
/// nor may write it, all pages look resident. Throws EnvironmentError or OptionError if the file
/// cannot be opened.
std::optional<Residency> residency_of(const std::filesystem::path& file);

/// Bytes that the block layer has read for this process since its start, for any purpose
/// (read_bytes of /proc/self/io). nullopt if the kernel does not report them.
std::optional<std::uint64_t> delivered_bytes();

/// Writes the file back and asks the kernel to drop its pages (fsync, posix_fadvise DONTNEED).
/// Mapped pages stay: residency_of() measures what stays. Throws EnvironmentError if the file
/// cannot be opened or written back.
void evict(const std::filesystem::path& file);

/// What was measured about a read, of one file or summed over files and ranks.
struct CacheEvidence {
    base::FileSystem file_system;
    std::uint64_t requested = 0;                    ///< bytes read
    std::optional<Residency> before = Residency{};  ///< just before the read; nullopt: unknown
    /// Bytes that the block layer delivered during the read; nullopt: unknown.
    std::optional<std::uint64_t> delivered = 0;

    static auto fields(auto& self) {
        return std::tie(self.file_system.name, self.file_system.kind, self.requested, self.before,
                        self.delivered);
    }
};

/// Adds the byte counts; a sum is unknown if either side lacks the count. Keeps the file system
/// with the larger FileSystemKind, the more cautious choice.
CacheEvidence merged(const CacheEvidence& a, const CacheEvidence& b);
std::vector<CacheEvidence> merged_over_ranks(comm::Communicator& ranks,
                                             const std::vector<CacheEvidence>& mine);

/// cold, warm, mixed, memory or unknown.
using CacheState = vocabulary::FactWord;

struct CacheLabel {
    CacheState state = CacheState::unknown;
    std::string text;  ///< "cold", "warm", "mixed 37 %", "memory (tmpfs)", "unknown"
    std::string why;   ///< one sentence, with the numbers
};

/// A read is cold if at most kColdShare of the bytes were in the page cache beforehand, and warm if
/// at least kWarmShare were, unless the bytes that the block layer delivered contradict this.
inline constexpr double kColdShare = 0.01;
inline constexpr double kWarmShare = 0.99;
/// The block layer delivered all if it counted at least the share kDeliveredAll of the bytes read,
/// and nothing if it counted at most the share kDeliveredNothing plus kForeignBytes: its count
/// includes other reads of the process, such as loading its program.
inline constexpr double kDeliveredAll = 0.95;
inline constexpr double kDeliveredNothing = 0.05;
inline constexpr std::uint64_t kForeignBytes = std::uint64_t{1} << 20U;

CacheLabel label_of(const CacheEvidence& evidence);
}  // namespace ranklab::io
