// The label of a read, from measurements alone: cold, warm, mixed or unknown. The rules and their
// limits are in docs/writing.md.
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

namespace ranklab::io {

/// Resident pages of one file, or the sum over many files.
struct Residency {
    std::uint64_t bytes = 0;  ///< how large the files are
    /// The bytes in this node's page cache: whole pages, at most `bytes`.
    std::uint64_t resident = 0;

    /// 0 where they are empty.
    double share() const { return bytes == 0 ? 0 : base::real(resident) / base::real(bytes); }
    Residency& operator+=(const Residency& other) {
        bytes += other.bytes;
        resident += other.resident;
        return *this;
    }
};

/// Asks mincore(2). nullopt where its answer is not reliable: it says "all" to a process that
/// neither owns the file nor may write to it. EnvironmentError or OptionError where the file cannot
/// be opened.
std::optional<Residency> residency_of(const std::filesystem::path& file);

/// The bytes that the block layer has fetched for this process since it began (read_bytes of
/// /proc/self/io): the difference of two calls came from the device in between, for any purpose.
/// nullopt where the kernel does not count or report them.
std::optional<std::uint64_t> delivered_bytes();

/// Has the file written to its device and asks the page cache to drop it (fsync, posix_fadvise
/// DONTNEED). Mapped pages stay; residency_of says how much stays. EnvironmentError where the file
/// cannot be opened or written back.
void evict(const std::filesystem::path& file);

/// Evidence about one read, or several (files, ranks).
struct CacheEvidence {
    base::FileSystem file_system;
    std::uint64_t requested = 0;                    ///< bytes that were read
    std::optional<Residency> before = Residency{};  ///< just before the reading; nullopt: not known
    /// The bytes that the block layer delivered meanwhile; nullopt: not known.
    std::optional<std::uint64_t> delivered = 0;

    static auto fields(auto& self) {
        return std::tie(self.file_system.name, self.file_system.kind, self.requested, self.before,
                        self.delivered);
    }
};

/// Merges two sides. A number that one side lacks is unknown; where the file systems differ, the
/// one that allows less is named (memory, then own_cache, network, other, disk).
CacheEvidence merged(const CacheEvidence& a, const CacheEvidence& b);
std::vector<CacheEvidence> merged_over_ranks(comm::Communicator& ranks,
                                             const std::vector<CacheEvidence>& mine);

enum class CacheState { cold, warm, mixed, memory, unknown };

struct CacheLabel {
    CacheState state = CacheState::unknown;
    std::string text;  ///< "cold", "warm", "mixed 37 %", "memory (tmpfs)", "unknown"
    std::string why;   ///< one sentence, with the numbers
};

/// At most this share resident before: cold, if the block layer says so too. At least that: warm.
inline constexpr double kColdShare = 0.01;
inline constexpr double kWarmShare = 0.99;
/// From this share of the read bytes on the block layer delivered "all", and up to the other
/// "nothing" (with kForeignBytes, since it also counts other reads of the process, such as pages of
/// its program).
inline constexpr double kDeliveredAll = 0.95;
inline constexpr double kDeliveredNothing = 0.05;
inline constexpr std::uint64_t kForeignBytes = std::uint64_t{1} << 20U;

CacheLabel label_of(const CacheEvidence& evidence);
}  // namespace ranklab::io
