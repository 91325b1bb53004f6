#include "data/volume_field.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"

namespace ranklab::data {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* what) {
    throw base::DataError(
        fmt::format("{} cannot be {}: {}", path.string(), what, std::strerror(errno)));
}

}  // namespace

FileBytes::FileBytes(const std::filesystem::path& path, ByteAccess access) : path_(path) {
    file_ = base::open_regular<base::DataError>(path, O_RDONLY);
    if (!file_) fail(path, "opened");
    struct stat info {};
    if (::fstat(file_.get(), &info) != 0) fail(path, "looked at");
    size_ = info.st_size;
    if (access != ByteAccess::read && size_ > 0) map(access == ByteAccess::resident);
}

FileBytes::FileBytes(const std::filesystem::path& path, std::vector<float> held)
    : path_(path),
      size_(held.size() * sizeof(float)),
      held_(std::move(held)),
      map_(std::as_bytes(std::span(held_)).data()) {}

// Where a mapping cannot be had (limits on address space), pread serves as well.
void FileBytes::map(bool resident) {
    void* const memory = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file_.get(), 0);
    if (memory == MAP_FAILED) return;
    map_ = static_cast<const std::byte*>(memory);
    if (!resident) return;
#ifdef MADV_POPULATE_READ
    if (::madvise(memory, size_, MADV_POPULATE_READ) == 0) return;
#endif
    constexpr std::uint64_t kPage = 4096;
    volatile unsigned sum = 0;  // so that the reads are made
    for (std::uint64_t i = 0; i < size_; i += kPage) sum = sum + static_cast<unsigned>(map_[i]);
}

FileBytes::~FileBytes() {
    if (map_ != nullptr && held_.empty()) ::munmap(const_cast<std::byte*>(map_), size_);
}

const std::byte* FileBytes::at(std::uint64_t offset, std::size_t count) const {
    if (offset + count > size_ || offset + count < offset)
        throw base::DataError(
            fmt::format("{} ends at byte {}, before byte {} that was to be read: it is truncated",
                        path_.string(), size_, offset + count));
    if (map_ != nullptr) return map_ + offset;
    thread_local std::vector<std::byte> buffer;
    if (buffer.size() < count) buffer.resize(count);
    const auto got = base::read_whole(file_.get(), std::span(buffer).first(count), offset);
    if (!got) fail(path_, "read");
    if (*got < count)
        throw base::DataError(fmt::format(
            "{} became shorter while it was read: leave it alone during a run", path_.string()));
    return buffer.data();
}

ByteAccess access_for(const std::filesystem::path& path) {
    using Kind = base::FileSystemKind;
    const Kind kind = base::file_system_at(path).kind;
    return kind == Kind::disk || kind == Kind::memory ? ByteAccess::mapped : ByteAccess::read;
}

namespace {

using Four = float __attribute__((vector_size(16)));

// Copies rows and finds out whether a number is not finite, at little cost: 0 * x is 0 for a finite
// x, NaN for others, and a sum keeps a NaN. `from` may be at any byte.
class FiniteCopy {
  public:
    void row(const std::byte* from, float* to, std::int64_t n) {
        auto sums = sums_;  // in registers: `to` could be these, for all the compiler knows
        std::int64_t i = 0;
        for (; i + 16 <= n; i += 16)
            for (std::size_t k = 0; k < 4; ++k)
                sums[k] += four(from, to, i + 4 * static_cast<std::int64_t>(k));
        for (; i + 4 <= n; i += 4) sums[0] += four(from, to, i);
        if (i < n && n >= 4) {
            sums[1] += four(from, to, n - 4);  // some of them again
        } else {
            for (; i < n; ++i) sums[0][0] += one(from, to, i);
        }
        sums_ = sums;
    }
    bool all_finite() const {
        const Four sum = sums_[0] + sums_[1] + sums_[2] + sums_[3];
        return sum[0] + sum[1] + sum[2] + sum[3] == 0.0F;
    }

  private:
    static Four four(const std::byte* from, float* to, std::int64_t i) {
        Four v;
        std::memcpy(&v, from + i * 4, sizeof v);
        std::memcpy(to + i, &v, sizeof v);
        return v * 0.0F;
    }
    static float one(const std::byte* from, float* to, std::int64_t i) {
        float v = 0;
        std::memcpy(&v, from + i * 4, sizeof v);
        to[i] = v;
        return v * 0.0F;
    }

    std::array<Four, 4> sums_{};
};

// Prefetches a row that will be copied soon: the processor does not foresee distant rows of a few
// hundred bytes. The row goes to the second cache, which can wait for more lines at once than the
// first (a quarter less time in chunks). Any address may be asked for.
void foresee(const std::byte* from, std::int64_t n) {
    constexpr std::int64_t kLine = 64;
    for (std::int64_t byte = 0; byte < n * 4; byte += kLine) __builtin_prefetch(from + byte, 0, 2);
}

struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t size() const { return end - begin; }
};

// The part of [begin, end) in the chunk that begins at `first`.
Range within(Range range, std::int64_t first, std::int64_t length) {
    return {std::max(range.begin, first), std::min(range.end, first + length)};
}

struct Extent {  ///< of one chunk
    Range x, y, z;
};

struct Block {  ///< rows of `numbers` in lines and planes of so many bytes
    std::int64_t planes, lines, numbers, plane_bytes, line_bytes;
    std::int64_t row_at(std::int64_t plane, std::int64_t line) const {
        return plane * plane_bytes + line * line_bytes;
    }
};

void copy_planes(const std::byte* from, const Block& block, const Rows& to, FiniteCopy& copied) {
    constexpr std::int64_t kAhead = 32;  // rows
    std::int64_t soon_plane = kAhead / block.lines;
    std::int64_t soon_line = kAhead % block.lines;
    for (std::int64_t p = 0; p < block.planes; ++p)
        for (std::int64_t j = 0; j < block.lines; ++j) {
            foresee(from + block.row_at(soon_plane, soon_line), block.numbers);
            if (++soon_line == block.lines) {
                soon_line = 0;
                ++soon_plane;
            }
            copied.row(from + block.row_at(p, j), to.first + p * to.plane + j * to.line,
                       block.numbers);
        }
}

// Reads one span of the file for each plane's rows with the bytes between them, or for several
// planes where little lies between those. A mapping has no such costs.
void copy_piece(const FileBytes& bytes, const std::vector<std::int64_t>& chunk, const Extent& piece,
                std::uint64_t first, const Rows& to, FiniteCopy& copied) {
    constexpr std::int64_t kSmallGap = 65536;
    constexpr std::int64_t kMostBytes = 1 << 20;
    const std::int64_t line = chunk[3] * 4;
    const std::int64_t plane = chunk[2] * line;
    const std::int64_t span = (piece.y.size() - 1) * line + piece.z.size() * 4;
    const bool together = plane - span <= kSmallGap && piece.x.size() * plane <= kMostBytes;
    const std::int64_t step = together ? piece.x.size() : 1;
    for (std::int64_t i = 0; i < piece.x.size(); i += step) {
        const std::size_t count = (step - 1) * plane + span;
        const std::byte* const from =
            bytes.at(first + static_cast<std::uint64_t>(i * plane), count);
        copy_planes(from, {step, piece.y.size(), piece.z.size(), plane, line},
                    {to.first + i * to.plane, to.plane, to.line}, copied);
    }
}

}  // namespace

VolumeField::VolumeField(std::string name, std::shared_ptr<const FileBytes> bytes,
                         hdf5::DatasetPlace place)
    : name_(std::move(name)),
      bytes_(std::move(bytes)),
      place_(std::move(place)),
      grid_(place_.grid()) {}

bool VolumeField::copy(const Slab& slab, const Rows& rows) const {
    const auto& chunk = place_.chunk;
    const Range x{slab.x, slab.x + slab.planes};
    const Range y{slab.y, slab.y + slab.edge};
    const Range z{slab.z, slab.z + slab.edge};
    FiniteCopy rows_copied;
    for (std::int64_t cx = x.begin / chunk[1]; cx * chunk[1] < x.end; ++cx)
        for (std::int64_t cy = y.begin / chunk[2]; cy * chunk[2] < y.end; ++cy)
            for (std::int64_t cz = z.begin / chunk[3]; cz * chunk[3] < z.end; ++cz) {
                const Extent piece{within(x, cx * chunk[1], chunk[1]),
                                   within(y, cy * chunk[2], chunk[2]),
                                   within(z, cz * chunk[3], chunk[3])};
                const Rows to{rows.first + (piece.x.begin - x.begin) * rows.plane +
                                  (piece.y.begin - y.begin) * rows.line + (piece.z.begin - z.begin),
                              rows.plane, rows.line};
                copy_piece(*bytes_, chunk, piece,
                           byte_of({slab.channel, piece.x.begin, piece.y.begin, piece.z.begin}), to,
                           rows_copied);
            }
    return rows_copied.all_finite();
}

std::uint64_t VolumeField::byte_of(const std::array<std::int64_t, 4>& at) const {
    std::int64_t chunk = 0;
    std::int64_t inside = 0;
    for (std::size_t d = 0; d < 4; ++d) {
        chunk = chunk * grid_[d] + at[d] / place_.chunk[d];
        inside = inside * place_.chunk[d] + at[d] % place_.chunk[d];
    }
    return place_.offsets[chunk] + static_cast<std::uint64_t>(inside) * 4;
}

void VolumeField::read(const Slab& slab, const Rows& rows) const {
    if (copy(slab, rows)) return;
    for (std::int64_t i = 0; i < slab.planes; ++i)
        for (std::int64_t j = 0; j < slab.edge; ++j)
            for (std::int64_t k = 0; k < slab.edge; ++k) {
                const float value = rows.first[i * rows.plane + j * rows.line + k];
                if (std::isfinite(value)) continue;
                throw base::DataError(fmt::format(
                    "{}[{}, {}, {}, {}] is {}: no network learns from that; `ranklab data "
                    "verify` counts such numbers, make the file anew",
                    name_, slab.channel, slab.x + i, slab.y + j, slab.z + k, value));
            }
}

}  // namespace ranklab::data
