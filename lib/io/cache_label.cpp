#include "io/cache_label.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/cast.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"

namespace ranklab::io {
namespace {

using base::FileSystem;
using Kind = base::FileSystemKind;

// The more a kind hides of where bytes came from, the later it stands.
int rank_of(Kind kind) {
    static constexpr std::array<Kind, 5> kOrder{Kind::disk, Kind::other, Kind::network, Kind::own_cache,
                                                Kind::memory};
    return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), kind) - kOrder.begin());
}

FileSystem stricter(const FileSystem& a, const FileSystem& b) {
    if (a.name.empty()) return b;
    if (b.name.empty()) return a;
    return rank_of(b.kind) > rank_of(a.kind) ? b : a;
}

double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : base::real(part) / base::real(whole);
}

std::string resident_text(const CacheEvidence& e) {
    if (!e.before) return "how much lay in the page cache before is not known";
    return fmt::format("{:.1f} % of {} lay in the page cache before",
                       100 * share(e.before->resident, e.before->bytes),
                       base::human_bytes(base::real(e.before->bytes)));
}

std::string delivered_text(const CacheEvidence& e) {
    if (!e.delivered) return "what the block layer delivered is not known";
    return fmt::format("the block layer delivered {} for {} that were read",
                       base::human_bytes(base::real(*e.delivered)),
                       base::human_bytes(base::real(e.requested)));
}

// What neither number sees.
std::string unseen_text(const FileSystem& where) {
    switch (where.kind) {
        case Kind::disk:
            return "what the device caches is not seen";
        case Kind::network:
            return fmt::format("what a server of {} caches is not seen", where.name);
        case Kind::own_cache:
            return fmt::format("{} has a cache of its own, which is not seen", where.name);
        default:
            return fmt::format("what {} caches is not seen",
                               where.name.empty() ? "the file system" : where.name);
    }
}

bool delivered_all(const CacheEvidence& e) {
    return e.delivered && base::real(*e.delivered) >= kDeliveredAll * base::real(e.requested);
}

// Or it is not known: then it contradicts nothing.
bool delivered_nothing(const CacheEvidence& e) {
    const auto most = kDeliveredNothing * base::real(e.requested) + base::real(kForeignBytes);
    return !e.delivered || base::real(*e.delivered) <= most;
}

CacheState state_of(const CacheEvidence& e) {
    if (e.file_system.kind == Kind::memory) return CacheState::memory;
    if (e.requested == 0 || !e.before || e.before->bytes == 0) return CacheState::unknown;
    const double resident = share(e.before->resident, e.before->bytes);
    if (resident >= kWarmShare) return delivered_nothing(e) ? CacheState::warm : CacheState::unknown;
    if (resident > kColdShare) return CacheState::mixed;
    // An empty page cache alone proves nothing: another one may lie behind it, and files have holes.
    return delivered_all(e) && e.file_system.kind != Kind::own_cache ? CacheState::cold : CacheState::unknown;
}

std::string text_of(CacheState state, const CacheEvidence& e) {
    switch (state) {
        case CacheState::cold:
            return "cold";
        case CacheState::warm:
            return "warm";
        case CacheState::mixed:
            return fmt::format("mixed {:.0f} %", 100 * share(e.before->resident, e.before->bytes));
        case CacheState::memory:
            return fmt::format("memory ({})", e.file_system.name);
        default:
            return "unknown";
    }
}

}  // namespace

CacheEvidence merged(const CacheEvidence& a, const CacheEvidence& b) {
    CacheEvidence both{stricter(a.file_system, b.file_system), a.requested + b.requested, std::nullopt,
                       std::nullopt};
    if (a.before && b.before) {
        both.before = *a.before;
        *both.before += *b.before;
    }
    if (a.delivered && b.delivered) both.delivered = *a.delivered + *b.delivered;
    return both;
}

std::vector<CacheEvidence> merged_over_ranks(comm::Communicator& ranks,
                                             const std::vector<CacheEvidence>& mine) {
    std::vector<CacheEvidence> all(mine.size());
    for (const auto& of_rank : comm::gather_values(ranks, mine))
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = merged(all[i], of_rank.at(i));
    return all;
}

CacheLabel label_of(const CacheEvidence& evidence) {
    const CacheState state = state_of(evidence);
    const std::string text = text_of(state, evidence);
    if (state == CacheState::memory)
        return {state, text,
                fmt::format("{} keeps its files in memory: a read of it is never cold",
                            evidence.file_system.name)};
    if (evidence.requested == 0) return {state, text, "nothing was read"};
    return {state, text,
            fmt::format("{}, and {}; {}", resident_text(evidence), delivered_text(evidence),
                        unseen_text(evidence.file_system))};
}

std::string label_with_share(const CacheEvidence& evidence) {
    const CacheLabel label = label_of(evidence);
    if (label.state != CacheState::warm) return label.text;
    return fmt::format("{} {:.0f} %", label.text,
                       100 * share(evidence.before->resident, evidence.before->bytes));
}

}  // namespace ranklab::io
