#include "io/cache_label.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "base/text.hpp"
#include "comm/exchange.hpp"

namespace ranklab::io {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSetting = "directory";

struct OpenFile {
    base::Descriptor descriptor;
    struct stat status {};
};

OpenFile open_to_read(const fs::path& file) {
    OpenFile opened;
    opened.descriptor = base::Descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!opened.descriptor || ::fstat(opened.descriptor.get(), &opened.status) != 0)
        base::throw_read_errno("open", file, errno, kSetting);
    return opened;
}

// Since Linux 5.0 (CVE-2019-5489) mincore reports every page as resident unless the process owns
// the file or may write it.
bool mincore_is_true(const OpenFile& file, const fs::path& path) {
    return file.status.st_uid == ::geteuid() ||
           ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

}  // namespace

std::optional<Residency> residency_of(const fs::path& path) {
    const OpenFile file = open_to_read(path);
    const std::uint64_t bytes = file.status.st_size;
    if (!mincore_is_true(file, path)) return std::nullopt;
    if (bytes == 0) return Residency{};
    void* map = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.descriptor.get(), 0);
    if (map == MAP_FAILED) return std::nullopt;
    const std::uint64_t page = ::sysconf(_SC_PAGESIZE);
    std::vector<unsigned char> answers((bytes + page - 1) / page);
    const int failed = ::mincore(map, bytes, answers.data());
    ::munmap(map, bytes);
    if (failed != 0) return std::nullopt;
    const std::uint64_t pages =
        std::ranges::count_if(answers, [](auto a) { return (a & 1U) != 0; });
    return Residency{bytes, std::min(pages * page, bytes)};
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
    // Without fsync, pages that are not yet on the device would stay in the cache. Some file
    // systems refuse fsync for files that were only read.
    if (::fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS)
        base::throw_errno("fsync", file, errno, kSetting);
    // If the kernel refuses, the pages stay, and residency_of() shows them.
    static_cast<void>(::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED));
}

namespace {

using base::FileSystem;
using Kind = base::FileSystemKind;

FileSystem stricter(const FileSystem& a, const FileSystem& b) {
    if (a.name.empty() || b.name.empty()) return a.name.empty() ? b : a;
    return b.kind > a.kind ? b : a;
}

std::string resident_text(const CacheEvidence& e) {
    if (!e.before) return "the share in the page cache before reading is unknown";
    return fmt::format("{:.1f} % of {} were in the page cache before reading",
                       100 * e.before->share(), base::human_bytes(base::real(e.before->bytes)));
}

std::string delivered_text(const CacheEvidence& e) {
    if (!e.delivered) return "the block layer's bytes are unknown";
    return fmt::format("the block layer delivered {} of {} read",
                       base::human_bytes(base::real(*e.delivered)),
                       base::human_bytes(base::real(e.requested)));
}

// Names the caches that neither residency nor device reads reveal.
std::string unseen_text(const FileSystem& where) {
    if (where.kind == Kind::own_cache)
        return fmt::format("{} has a cache of its own, which is not measured", where.name);
    return fmt::format("caches of {} and its device are not measured", where.name);
}

bool delivered_all(const CacheEvidence& e) {
    return e.delivered && base::real(*e.delivered) >= kDeliveredAll * base::real(e.requested);
}

// An unknown byte count also returns true: it cannot contradict a warm cache.
bool delivered_nothing(const CacheEvidence& e) {
    const auto most = kDeliveredNothing * base::real(e.requested) + base::real(kForeignBytes);
    return !e.delivered || base::real(*e.delivered) <= most;
}

CacheState state_of(const CacheEvidence& e) {
    if (e.file_system.kind == Kind::memory) return CacheState::memory;
    if (e.requested == 0 || !e.before || e.before->bytes == 0) return CacheState::unknown;
    const double resident = e.before->share();
    if (resident >= kWarmShare)
        return delivered_nothing(e) ? CacheState::warm : CacheState::unknown;
    if (resident > kColdShare) return CacheState::mixed;
    // An empty page cache alone does not prove a cold read: the file system may have a cache of its
    // own, and files may have holes.
    return delivered_all(e) && e.file_system.kind != Kind::own_cache ? CacheState::cold
                                                                     : CacheState::unknown;
}

std::string text_of(CacheState state, const CacheEvidence& e) {
    const auto word = vocabulary::text_of(state);
    if (state == CacheState::mixed)
        return fmt::format("{} {:.0f} %", word, 100 * e.before->share());
    if (state == CacheState::memory) return fmt::format("{} ({})", word, e.file_system.name);
    return std::string(word);
}

}  // namespace

CacheEvidence merged(const CacheEvidence& a, const CacheEvidence& b) {
    CacheEvidence both{stricter(a.file_system, b.file_system), a.requested + b.requested,
                       std::nullopt, std::nullopt};
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

}  // namespace ranklab::io
