// What a read may be called, of what was measured and of nothing else: cold, warm, mixed or unknown.
// The rules, and what they do not see, are in docs/writing.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/file_system.hpp"
#include "comm/communicator.hpp"
#include "io/residency.hpp"

namespace ranklab::io {

/// What is known of a read, or of several: of files and ranks.
struct CacheEvidence {
    base::FileSystem file_system;
    std::uint64_t requested = 0;                    ///< bytes that were read
    std::optional<Residency> before = Residency{};  ///< just before the reading; nullopt: not known
    std::optional<std::uint64_t> delivered = 0;     ///< by the block layer, meanwhile; nullopt: not known

    static auto fields(auto& self) {
        return std::tie(self.file_system.name, self.file_system.kind, self.requested, self.before,
                        self.delivered);
    }
};

/// Both together. What is not known of one is not known of both; where the file systems differ, the one that
/// allows less is named (memory, then own_cache, network, other, disk).
CacheEvidence merged(const CacheEvidence& a, const CacheEvidence& b);
/// All ranks' of each read, on every rank: a collective, with as many reads on all ranks.
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
/// The block layer has delivered "all" from this share of what was read on, and "nothing" up to the other
/// (and kForeignBytes: it also counts what else the process reads, such as pages of its program).
inline constexpr double kDeliveredAll = 0.95;
inline constexpr double kDeliveredNothing = 0.05;
inline constexpr std::uint64_t kForeignBytes = std::uint64_t{1} << 20U;

CacheLabel label_of(const CacheEvidence& evidence);
/// The label, with the share that was resident where one is known and it is no other case: "warm 100 %".
std::string label_with_share(const CacheEvidence& evidence);

/// May the read be shown as one of a cold cache? If not, a run with --cold is no valid measurement (exit 7).
inline bool proof_of_cold(const CacheLabel& label) {
    return label.state == CacheState::cold;
}

}  // namespace ranklab::io
