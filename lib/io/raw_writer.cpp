#include "io/raw_writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>

#include "base/cast.hpp"
#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "io/record_files.hpp"

namespace ranklab::io {
namespace {

namespace fs = std::filesystem;
using base::IoPhase;
using Clock = base::IoTimes::Clock;

constexpr const char* kSetting = "directory";
constexpr std::uint64_t kMostCopied = std::uint64_t{1} << 30U;  // enough for a rate
constexpr std::uint64_t kPause = std::uint64_t{1} << 20U;       // bytes between two calls of `between`

// The last cache may be shared by all writers of the node: all their buffers together are twice as large,
// within limits: virtual machines report the caches of their whole host.
std::size_t buffer_bytes(int beside) {
    const long cache = std::max(::sysconf(_SC_LEVEL3_CACHE_SIZE), ::sysconf(_SC_LEVEL2_CACHE_SIZE));
    const std::uint64_t writers = std::max(beside, 1);
    const std::uint64_t least = std::clamp<std::uint64_t>((256U << 20U) / writers, 1U << 20U, 16U << 20U);
    return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::max(cache, 0L)) / writers, least,
                                     64U << 20U);
}

}  // namespace

fs::path raw_path(const fs::path& directory, std::int64_t id) {
    return directory / (".ranklab-ceiling-" + std::to_string(id));
}

void remove_raw(const fs::path& directory, const base::Share& records) noexcept {
    try {
        for (std::int64_t id = records.first; id < records.end(); ++id)
            ::unlink(raw_path(directory, id).c_str());
    } catch (...) {  // no memory for a name: what is left is replaced the next time
    }
}

RawWriter::RawWriter(RawShare share) : share_(std::move(share)) {
    for (std::int64_t id = share_.records.first; id < share_.records.end(); ++id) {
        const fs::path path = raw_path(share_.directory, id);
        if (::unlink(path.c_str()) != 0 && errno != ENOENT)
            base::throw_errno("unlink", path, errno, kSetting);
    }
    if (share_.records.count > 0) record_.assign(share_.bytes_per_record, 'r');
}

RawWriter::~RawWriter() {
    remove_raw(share_.directory, share_.records);
}

void RawWriter::prepare_copy() {
    const std::size_t size = buffer_bytes(share_.beside);
    const auto wanted =
        std::min(static_cast<std::uint64_t>(share_.records.count) * share_.bytes_per_record, kMostCopied);
    passes_ = (wanted + size - 1) / size;
    if (passes_ == 0) return;
    from_.assign(size, 'm');
    to_.assign(size, 'm');
}

Ceiling RawWriter::copy() {
    const auto begin = Clock::now();
    for (std::uint64_t i = 0; i < passes_; ++i) {
        std::memcpy(to_.data(), from_.data(), from_.size());
        asm volatile("" : : "r"(to_.data()) : "memory");  // somebody might look at it
    }
    const Ceiling copied{base::real(passes_ * from_.size()), base::seconds_since(begin)};
    from_ = {};
    to_ = {};
    return copied;
}

base::IoTimes RawWriter::write(const std::function<void()>& between) {
    times_ = {};
    Pauses pauses(share_.bytes_per_record, share_.fsync, between);
    for (std::int64_t id = share_.records.first; id < share_.records.end(); ++id) {
        write_new(raw_path(share_.directory, id), record_, {}, {.fsync = share_.fsync}, times_);
        pauses.after_record();
    }
    return times_;
}

double writing_s(const base::IoTimes& times) {
    return times.of(IoPhase::write).total_s + times.of(IoPhase::fsync).total_s;
}

double creating_s(const base::IoTimes& times) {
    return times.of(IoPhase::open).total_s + times.of(IoPhase::close).total_s;
}

Pauses::Pauses(std::uint64_t bytes_per_record, bool each, const std::function<void()>& beat)
    : every_(each ? 1
                  : static_cast<std::int64_t>(
                        std::max<std::uint64_t>(1, kPause / std::max<std::uint64_t>(1, bytes_per_record)))),
      beat_(beat) {}

}  // namespace ranklab::io
