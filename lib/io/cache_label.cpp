#include "io/cache_label.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"

namespace ranklab::io {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSetting = "directory";
constexpr std::uint64_t kWindow = std::uint64_t{1} << 28U;  // mapped at a time: 64 KiB of mincore's answers

std::uint64_t page_size() {
    static const std::uint64_t size = ::sysconf(_SC_PAGESIZE);
    return size;
}

struct OpenFile {
    base::Descriptor descriptor;
    struct stat status {};
    std::uint64_t bytes() const { return status.st_size; }
};

OpenFile open_to_read(const fs::path& file) {
    OpenFile opened;
    opened.descriptor = base::Descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!opened.descriptor || ::fstat(opened.descriptor.get(), &opened.status) != 0)
        base::throw_read_errno("open", file, errno, kSetting);
    return opened;
}

// Since Linux 5.0 (CVE-2019-5489) mincore calls every page resident unless one of these holds.
bool mincore_is_true(const OpenFile& file, const fs::path& path) {
    return file.status.st_uid == ::geteuid() || ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

std::optional<std::uint64_t> resident_pages(int file, std::uint64_t offset, std::uint64_t length) {
    void* map = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, file, offset);
    if (map == MAP_FAILED) return std::nullopt;
    std::vector<unsigned char> answers((length + page_size() - 1) / page_size());
    const int failed = ::mincore(map, length, answers.data());
    ::munmap(map, length);
    if (failed != 0) return std::nullopt;
    const auto resident = std::count_if(answers.begin(), answers.end(), [](auto a) { return (a & 1U) != 0; });
    return resident;
}

}  // namespace

std::optional<Residency> residency_of(const fs::path& path) {
    const OpenFile file = open_to_read(path);
    if (!mincore_is_true(file, path)) return std::nullopt;
    std::uint64_t pages = 0;
    for (std::uint64_t offset = 0; offset < file.bytes(); offset += kWindow) {
        const auto length = std::min(kWindow, file.bytes() - offset);
        const auto here = resident_pages(file.descriptor.get(), offset, length);
        if (!here) return std::nullopt;
        pages += *here;
    }
    return Residency{file.bytes(), std::min(pages * page_size(), file.bytes())};
}

std::optional<std::uint64_t> delivered_bytes() {
    std::ifstream account("/proc/self/io");
    std::string name;
    std::uint64_t value = 0;
    while (account >> name >> value) {
        if (name == "read_bytes:") return value;
    }
    return std::nullopt;
}

void evict(const fs::path& file) {
    const OpenFile opened = open_to_read(file);
    const int descriptor = opened.descriptor.get();
    // The cache keeps what is not yet on the device. Some file systems have no fsync of what was only read.
    if (::fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS)
        base::throw_errno("fsync", file, errno, kSetting);
    // A refusal is no failure: the pages stay, and residency_of says so.
    static_cast<void>(::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED));
}

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
    if (where.kind == Kind::own_cache)
        return fmt::format("{} has a cache of its own, which is not seen", where.name);
    return fmt::format("what {} or its device caches is not seen",
                       where.name.empty() ? "the file system" : where.name);
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
