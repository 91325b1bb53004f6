#include "io/cache_label.hpp"

#include <fmt/format.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "comm/exchange.hpp"

namespace ranklab::io {
namespace {

using Kind = FileSystemKind;

struct Known {
    unsigned long magic;
    const char* name;
    Kind kind;
};

// Numbers from statfs(2), linux/magic.h and the Lustre, GPFS, BeeGFS and OpenZFS sources.
constexpr std::array<Known, 21> kKnown{
    {{0xEF53, "ext4", Kind::disk},          {0x58465342, "xfs", Kind::disk},
     {0x9123683E, "btrfs", Kind::disk},     {0xF2F52010, "f2fs", Kind::disk},
     {0x794C7630, "overlayfs", Kind::disk}, {0x01021994, "tmpfs", Kind::memory},
     {0x858458F6, "ramfs", Kind::memory},   {0x958458F6, "hugetlbfs", Kind::memory},
     {0x2FC12FC1, "zfs", Kind::own_cache},  {0xCA451A4E, "bcachefs", Kind::disk},
     {0x6969, "nfs", Kind::network},        {0x0BD00BD0, "lustre", Kind::network},
     {0x47504653, "gpfs", Kind::network},   {0x19830326, "beegfs", Kind::network},
     {0x01021997, "9p", Kind::network},     {0x65735546, "fuse", Kind::network},
     {0x00C36400, "ceph", Kind::network},   {0xFF534D42, "cifs", Kind::network},
     {0xFE534D42, "smb2", Kind::network},   {0x5346414F, "afs", Kind::network},
     {0xAAD7AAEA, "panfs", Kind::network}}};

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
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string resident_text(const CacheEvidence& e) {
    if (!e.before) return "how much lay in the page cache before is not known";
    return fmt::format("{:.1f} % of {} lay in the page cache before",
                       100 * share(e.before->resident, e.before->bytes),
                       base::human_bytes(static_cast<double>(e.before->bytes)));
}

std::string delivered_text(const CacheEvidence& e) {
    if (!e.delivered) return "what the block layer delivered is not known";
    return fmt::format("the block layer delivered {} for {} that were read",
                       base::human_bytes(static_cast<double>(*e.delivered)),
                       base::human_bytes(static_cast<double>(e.requested)));
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
    return e.delivered &&
           static_cast<double>(*e.delivered) >= kDeliveredAll * static_cast<double>(e.requested);
}

// Or it is not known: then it contradicts nothing.
bool delivered_nothing(const CacheEvidence& e) {
    const auto most =
        kDeliveredNothing * static_cast<double>(e.requested) + static_cast<double>(kForeignBytes);
    return !e.delivered || static_cast<double>(*e.delivered) <= most;
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

FileSystem file_system_at(const std::filesystem::path& place) {
    struct statfs info {};
    if (::statfs(place.c_str(), &info) != 0) return {"unknown", Kind::other};
    const auto magic = static_cast<unsigned long>(info.f_type) & 0xFFFFFFFFUL;
    const auto known =
        std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& k) { return k.magic == magic; });
    if (known == kKnown.end()) return {fmt::format("type 0x{:X}", magic), Kind::other};
    return {known->name, known->kind};
}

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

CacheEvidence merged_over_ranks(comm::Communicator& ranks, const CacheEvidence& mine) {
    const auto whole = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    const Residency before = mine.before.value_or(Residency{});
    std::array<std::int64_t, 6> sums{whole(mine.requested),  whole(before.bytes),
                                     whole(before.resident), whole(mine.delivered.value_or(0)),
                                     mine.before ? 0 : 1,    mine.delivered ? 0 : 1};
    ranks.allreduce(comm::view(std::span(sums)), comm::ReduceOp::sum);
    const auto names = comm::gather_texts(ranks, mine.file_system.name);
    const auto kinds = comm::gather_values(ranks, static_cast<double>(mine.file_system.kind));

    const auto bytes = [&](std::size_t i) { return static_cast<std::uint64_t>(sums.at(i)); };
    CacheEvidence all;
    for (std::size_t r = 0; r < names.size(); ++r)
        all.file_system =
            stricter(all.file_system, {names[r], static_cast<Kind>(static_cast<int>(kinds[r]))});
    all.requested = bytes(0);
    all.before = sums[4] == 0 ? std::optional(Residency{bytes(1), bytes(2)}) : std::nullopt;
    all.delivered = sums[5] == 0 ? std::optional(bytes(3)) : std::nullopt;
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

}  // namespace ranklab::io
