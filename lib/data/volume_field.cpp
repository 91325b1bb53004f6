#include "data/volume_field.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "base/error.hpp"

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
    if (::fstat(file_.get(), &info) != 0) fail(path, "examined");
    size_ = info.st_size;
    if (access == ByteAccess::read || size_ == 0) return;
    const int flags = MAP_SHARED | (access == ByteAccess::resident ? MAP_POPULATE : 0);
    void* const memory = ::mmap(nullptr, size_, PROT_READ, flags, file_.get(), 0);
    // If mmap fails (a limit on the address space), pread does the same more slowly.
    if (memory != MAP_FAILED) map_ = static_cast<const std::byte*>(memory);
}

FileBytes::FileBytes(const std::filesystem::path& path, std::vector<float> held)
    : path_(path),
      size_(held.size() * sizeof(float)),
      held_(std::move(held)),
      map_(std::as_bytes(std::span(held_)).data()) {}

FileBytes::~FileBytes() {
    if (map_ != nullptr && held_.empty()) ::munmap(const_cast<std::byte*>(map_), size_);
}

const std::byte* FileBytes::at(std::uint64_t offset, std::size_t count) const {
    if (offset + count > size_ || offset + count < offset)
        throw base::DataError(fmt::format(
            "{} is truncated: it ends at byte {}, before byte {}; make or copy it again",
            path_.string(), size_, offset + count));
    if (map_ != nullptr) return map_ + offset;
    thread_local std::vector<std::byte> buffer;
    if (buffer.size() < count) buffer.resize(count);
    const auto got = base::read_whole(file_.get(), std::span(buffer).first(count), offset);
    if (!got) base::throw_read_errno("read", path_, errno);
    if (*got < count)
        throw base::DataError(fmt::format(
            "{} became shorter while it was read; do not change it during a run", path_.string()));
    return buffer.data();
}

ByteAccess access_for(const std::filesystem::path& path) {
    using Kind = base::FileSystemKind;
    const Kind kind = base::file_system_at(path).kind;
    return kind == Kind::disk || kind == Kind::memory ? ByteAccess::mapped : ByteAccess::read;
}

namespace {

// Copies a row from any address. Returns false if a number is not finite (all exponent bits set).
bool copy_row(const std::byte* from, float* to, std::int64_t n) {
    constexpr std::uint32_t kExponent = 0x7F800000;
    std::memcpy(to, from, n * sizeof(float));
    std::uint32_t bad = 0;
    for (std::int64_t i = 0; i < n; ++i)
        bad |= (std::bit_cast<std::uint32_t>(to[i]) & kExponent) == kExponent ? 1U : 0U;
    return bad == 0;
}

// Prefetches rows of the next plane, which are too far away for the hardware prefetcher, into the
// second-level cache, which can wait for more lines at once. Invalid addresses do no harm.
void prefetch(const std::byte* from, std::int64_t bytes) {
    constexpr std::int64_t kLine = 64;
    for (std::int64_t byte = 0; byte < bytes; byte += kLine) __builtin_prefetch(from + byte, 0, 2);
}

// A box within one chunk; axes x, y, z.
struct Box {
    std::array<std::int64_t, 3> begin{}, size{};
};

struct Strides {  ///< in bytes
    std::int64_t plane, line;
};

// Copies `planes` planes of a box. Returns false if a number is not finite.
bool copy_planes(const std::byte* from, const Strides& strides, std::int64_t planes, const Box& box,
                 const Rows& to) {
    bool finite = true;
    for (std::int64_t p = 0; p < planes; ++p)
        for (std::int64_t j = 0; j < box.size[1]; ++j) {
            const std::byte* const row = from + p * strides.plane + j * strides.line;
            prefetch(row + strides.plane, box.size[2] * 4);
            finite &= copy_row(row, to.first + p * to.plane + j * to.line, box.size[2]);
        }
    return finite;
}

// Reads one span of the file per plane, including the bytes between the plane's rows, or one span
// for all planes if they are small and close together. `first`: the box's first byte in the file.
bool copy_box(const FileBytes& bytes, const std::vector<std::int64_t>& chunk, const Box& box,
              std::uint64_t first, const Rows& to) {
    constexpr std::int64_t kSmallGap = 65536;
    constexpr std::int64_t kMostBytes = 1 << 20;
    const Strides strides{chunk[2] * chunk[3] * 4, chunk[3] * 4};
    const std::int64_t span = (box.size[1] - 1) * strides.line + box.size[2] * 4;
    const bool at_once =
        strides.plane - span <= kSmallGap && box.size[0] * strides.plane <= kMostBytes;
    const std::int64_t planes = at_once ? box.size[0] : 1;
    bool finite = true;
    for (std::int64_t i = 0; i < box.size[0]; i += planes) {
        const auto* const from =
            bytes.at(first + i * strides.plane, (planes - 1) * strides.plane + span);
        finite &=
            copy_planes(from, strides, planes, box, {to.first + i * to.plane, to.plane, to.line});
    }
    return finite;
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
    const std::array first{slab.x, slab.y, slab.z};
    const std::array end{slab.x + slab.planes, slab.y + slab.edge, slab.z + slab.edge};
    bool finite = true;
    for (std::int64_t cx = first[0] / chunk[1]; cx * chunk[1] < end[0]; ++cx)
        for (std::int64_t cy = first[1] / chunk[2]; cy * chunk[2] < end[1]; ++cy)
            for (std::int64_t cz = first[2] / chunk[3]; cz * chunk[3] < end[2]; ++cz) {
                Box box;
                const std::array corner{cx * chunk[1], cy * chunk[2], cz * chunk[3]};
                for (std::size_t d = 0; d < 3; ++d) {
                    box.begin[d] = std::max(first[d], corner[d]);
                    box.size[d] = std::min(end[d], corner[d] + chunk[d + 1]) - box.begin[d];
                }
                const auto& [x, y, z] = box.begin;
                float* const to = rows.first + (x - slab.x) * rows.plane +
                                  (y - slab.y) * rows.line + (z - slab.z);
                finite &= copy_box(*bytes_, chunk, box, byte_of({slab.channel, x, y, z}),
                                   {to, rows.plane, rows.line});
            }
    return finite;
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
                    "{}[{}, {}, {}, {}] is {}, which training cannot use; make the file again",
                    name_, slab.channel, slab.x + i, slab.y + j, slab.z + k, value));
            }
}

}  // namespace ranklab::data
