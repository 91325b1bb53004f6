#include "io/ceilings.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/share.hpp"
#include "comm/exchange.hpp"
#include "io/large_pages.hpp"

namespace ranklab::io {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kOption = "--directory";
constexpr std::int64_t kMostFiles = 1000;                       // created per rank: enough for a rate
constexpr std::uint64_t kMostCopied = std::uint64_t{1} << 30U;  // bytes per rank: the same
constexpr std::uint64_t kPause = std::uint64_t{1} << 20U;  // bytes written between two calls of `between`

// Files that go with it, whatever happens: PREFIX0, PREFIX1, ... as many as were named.
class ScratchFiles {
  public:
    explicit ScratchFiles(fs::path prefix) : prefix_(std::move(prefix)) {}
    ~ScratchFiles() {
        for (std::int64_t i = 0; i < named_; ++i) ::unlink(path(i).c_str());
    }
    ScratchFiles(const ScratchFiles&) = delete;
    ScratchFiles& operator=(const ScratchFiles&) = delete;
    ScratchFiles(ScratchFiles&&) = delete;
    ScratchFiles& operator=(ScratchFiles&&) = delete;

    /// A name that no file bears: what a killed run left there is removed.
    void name(std::int64_t count) {
        named_ = count;
        for (std::int64_t i = 0; i < count; ++i) {
            if (::unlink(path(i).c_str()) != 0 && errno != ENOENT)
                base::throw_errno("unlink", path(i), errno, kOption);
        }
    }
    fs::path path(std::int64_t i = 0) const { return prefix_.string() + std::to_string(i); }

  private:
    fs::path prefix_;
    std::int64_t named_ = 0;
};

fs::path scratch_prefix(const fs::path& directory, int rank, const char* what) {
    return directory / fmt::format(".ranklab-ceiling-{}-{}-", what, rank);
}

base::Descriptor open_file(const fs::path& path, int flags) {
    base::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666));
    if (!file) base::throw_errno("open", path, errno, kOption);
    return file;
}

void close_file(base::Descriptor& file, const fs::path& path) {
    if (::close(file.release()) != 0) base::throw_errno("close", path, errno, kOption);
}

void sync_file(const base::Descriptor& file, const fs::path& path) {
    if (::fsync(file.get()) != 0) base::throw_errno("fsync", path, errno, kOption);
}

// `put` writes what it can of the bytes from the given position of the record on, and returns how many.
template <class Put>
void put_record(const char* call, std::span<const char> record, const fs::path& path, Put&& put) {
    std::size_t at = 0;
    while (at < record.size()) {
        const ssize_t written = put(record.subspan(at), at);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) base::throw_errno(call, path, errno, kOption);
        at += static_cast<std::size_t>(written);
    }
}

// What all ranks do at the same time: prepared together, begun together, timed to the end of the slowest.
template <class Prepare, class Timed>
double timed_together(comm::Communicator& ranks, Prepare&& prepare, Timed&& timed) {
    comm::together(ranks, prepare);
    ranks.barrier();
    double seconds = 0;
    comm::together(ranks, [&] {
        const auto begin = Clock::now();
        timed();
        seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    });
    ranks.allreduce(comm::view(std::span(&seconds, 1)), comm::ReduceOp::max);
    return seconds;
}

double sum_over_ranks(comm::Communicator& ranks, double mine) {
    ranks.allreduce(comm::view(std::span(&mine, 1)), comm::ReduceOp::sum);
    return mine;
}

class Measurement {
  public:
    Measurement(comm::Communicator& ranks, const CeilingWork& work)
        : ranks_(ranks), work_(work), mine_(base::share_of(work.records, ranks.rank(), ranks.world_size())) {}

    Ceilings all() {
        Ceilings found;
        if (work_.records <= 0) return found;
        found.create = create();
        if (work_.bytes_per_record == 0) return found;
        if (work_.memory_copy) found.memory_copy = memory_copy();
        comm::together(ranks_, [&] { record_.assign(work_.bytes_per_record, 'r'); });
        if (work_.write_own) found.write_own = write_own();
        if (work_.write_shared) found.write_shared = write_shared();
        return found;
    }

  private:
    Ceiling memory_copy() const {
        // The last cache may be shared by all ranks of the node: all their buffers together are twice as
        // large, within limits: virtual machines report the caches of their whole host.
        const long cache = std::max(::sysconf(_SC_LEVEL3_CACHE_SIZE), ::sysconf(_SC_LEVEL2_CACHE_SIZE));
        const auto part = static_cast<std::uint64_t>(std::max(cache, 0L)) /
                          static_cast<std::uint64_t>(std::max(ranks_.local_size(), 1));
        const std::size_t size = std::clamp<std::uint64_t>(part, 16U << 20U, 64U << 20U);
        const auto wanted =
            std::min(static_cast<std::uint64_t>(mine_.count) * work_.bytes_per_record, kMostCopied);
        const std::uint64_t passes = (wanted + size - 1) / size;
        Bytes from;
        Bytes to;
        const auto prepare = [&] {
            if (passes == 0) return;
            from.assign(size, 'm');
            to.assign(size, 'm');
        };
        const double seconds = timed_together(ranks_, prepare, [&] {
            for (std::uint64_t i = 0; i < passes; ++i) {
                std::memcpy(to.data(), from.data(), size);
                asm volatile("" : : "r"(to.data()) : "memory");  // somebody might look at it
            }
        });
        return {sum_over_ranks(ranks_, static_cast<double>(passes * size)), seconds};
    }

    Ceiling write_own() const {
        ScratchFiles scratch(scratch_prefix(work_.directory, ranks_.rank(), "own"));
        base::Descriptor file;
        const auto prepare = [&] {
            scratch.name(1);
            file = open_file(scratch.path(), O_CREAT | O_TRUNC);
        };
        const double seconds = timed_together(ranks_, prepare, [&] {
            for (std::int64_t i = 0; i < mine_.count; ++i) {
                put_record("write", record_, scratch.path(), [&](auto rest, std::size_t) {
                    return ::write(file.get(), rest.data(), rest.size());
                });
                if (work_.fsync) sync_file(file, scratch.path());
                pause_after(i);
            }
        });
        return {all_bytes(), seconds};
    }

    Ceiling write_shared() const {
        ScratchFiles scratch(scratch_prefix(work_.directory, 0, "shared"));
        base::Descriptor file;
        comm::together(ranks_, [&] {
            if (ranks_.rank() != 0) return;
            scratch.name(1);
            file = open_file(scratch.path(), O_CREAT | O_TRUNC);
        });
        const auto prepare = [&] {
            if (!file) file = open_file(scratch.path(), 0);
        };
        const double seconds = timed_together(ranks_, prepare, [&] {
            for (std::int64_t i = mine_.first; i < mine_.end(); ++i) {
                const std::uint64_t begin = static_cast<std::uint64_t>(i) * work_.bytes_per_record;
                put_record("pwrite", record_, scratch.path(), [&](auto rest, std::size_t at) {
                    return ::pwrite(file.get(), rest.data(), rest.size(), static_cast<off_t>(begin + at));
                });
                pause_after(i);
            }
            if (work_.fsync) sync_file(file, scratch.path());
        });
        return {all_bytes(), seconds};
    }

    Ceiling create() const {
        ScratchFiles scratch(scratch_prefix(work_.directory, ranks_.rank(), "new"));
        const std::int64_t count = std::min(mine_.count, kMostFiles);
        std::vector<fs::path> paths;
        const auto prepare = [&] {
            scratch.name(count);
            for (std::int64_t i = 0; i < count; ++i) paths.push_back(scratch.path(i));
        };
        const double seconds = timed_together(ranks_, prepare, [&] {
            for (const auto& path : paths) {
                base::Descriptor file = open_file(path, O_CREAT | O_EXCL);
                close_file(file, path);
            }
        });
        return {sum_over_ranks(ranks_, static_cast<double>(count)), seconds};
    }

    // Not between any two small records: they would be slowed down.
    void pause_after(std::int64_t record) const {
        const std::int64_t every =
            work_.fsync
                ? 1
                : std::max<std::int64_t>(1, static_cast<std::int64_t>(kPause / work_.bytes_per_record));
        if (work_.between && (record + 1) % every == 0) work_.between();
    }
    double all_bytes() const {
        return static_cast<double>(work_.records) * static_cast<double>(work_.bytes_per_record);
    }

    comm::Communicator& ranks_;
    const CeilingWork& work_;
    base::Share mine_;
    Bytes record_;
};

}  // namespace

Ceilings measure_ceilings(comm::Communicator& ranks, const CeilingWork& work) {
    return Measurement(ranks, work).all();
}

}  // namespace ranklab::io
