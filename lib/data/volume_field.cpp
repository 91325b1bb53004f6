#include "data/volume_field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "hdf5/library_use.hpp"

namespace ranklab::data {
namespace {

using Four = float __attribute__((vector_size(16)));

// Copies rows and finds out whether a number is not finite, beside the memory it comes from at little
// cost: 0 * x is 0 for a finite x, NaN for others, and a sum keeps a NaN. `from` may be at any byte.
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

// Asks for a row that will be copied soon: rows a few hundred bytes long at a distance are no stream that the
// processor foresees. Into the second cache, which can wait for more lines at once than the first (a quarter
// less time in chunks). Any address may be asked for.
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

class DirectField final : public VolumeField {
  public:
    DirectField(std::string name, std::shared_ptr<const FileBytes> bytes, hdf5::DatasetPlace place)
        : VolumeField(std::move(name)),
          bytes_(std::move(bytes)),
          place_(std::move(place)),
          grid_(place_.grid()) {}

  private:
    bool copy(const Slab& slab, const Rows& rows) const override {
        const auto& chunk = place_.chunk;
        const Range x{slab.x, slab.x + slab.planes};
        const Range y{slab.y, slab.y + slab.edge};
        const Range z{slab.z, slab.z + slab.edge};
        FiniteCopy rows_copied;
        for (std::int64_t cx = x.begin / chunk[1]; cx * chunk[1] < x.end; ++cx)
            for (std::int64_t cy = y.begin / chunk[2]; cy * chunk[2] < y.end; ++cy)
                for (std::int64_t cz = z.begin / chunk[3]; cz * chunk[3] < z.end; ++cz) {
                    const Piece piece{within(x, cx * chunk[1], chunk[1]), within(y, cy * chunk[2], chunk[2]),
                                      within(z, cz * chunk[3], chunk[3])};
                    const Rows to{rows.first + (piece.x.begin - x.begin) * rows.plane +
                                      (piece.y.begin - y.begin) * rows.line + (piece.z.begin - z.begin),
                                  rows.plane, rows.line};
                    copy_piece(piece, first_byte(slab.channel, piece), to, rows_copied);
                }
        return rows_copied.all_finite();
    }

    struct Piece {  ///< of one chunk
        Range x, y, z;
    };

    std::uint64_t first_byte(std::int64_t channel, const Piece& piece) const {
        const std::array<std::int64_t, 4> at{channel, piece.x.begin, piece.y.begin, piece.z.begin};
        std::int64_t chunk = 0;
        std::int64_t inside = 0;
        for (std::size_t d = 0; d < 4; ++d) {
            chunk = chunk * grid_[d] + at[d] / place_.chunk[d];
            inside = inside * place_.chunk[d] + at[d] % place_.chunk[d];
        }
        return place_.offsets[chunk] + static_cast<std::uint64_t>(inside) * 4;
    }

    // One span of the file for each plane's rows, what lies between them included; for several planes where
    // little lies between those. A mapping has no such costs.
    void copy_piece(const Piece& piece, std::uint64_t first, const Rows& to, FiniteCopy& copied) const {
        constexpr std::int64_t kSmallGap = 65536;
        constexpr std::int64_t kMostBytes = 1 << 20;
        const std::int64_t line = place_.chunk[3] * 4;
        const std::int64_t plane = place_.chunk[2] * line;
        const std::int64_t span = (piece.y.size() - 1) * line + piece.z.size() * 4;
        const bool together = plane - span <= kSmallGap && piece.x.size() * plane <= kMostBytes;
        const std::int64_t step = together ? piece.x.size() : 1;
        for (std::int64_t i = 0; i < piece.x.size(); i += step) {
            const std::size_t bytes = (step - 1) * plane + span;
            const std::byte* const from = bytes_->at(first + static_cast<std::uint64_t>(i * plane), bytes);
            copy_planes(from, {step, piece.y.size(), piece.z.size(), plane, line},
                        {to.first + i * to.plane, to.plane, to.line}, copied);
        }
    }

    struct Block {  ///< rows of `numbers` in lines and planes of so many bytes
        std::int64_t planes, lines, numbers, plane_bytes, line_bytes;
        std::int64_t row_at(std::int64_t plane, std::int64_t line) const {
            return plane * plane_bytes + line * line_bytes;
        }
    };

    static void copy_planes(const std::byte* from, const Block& block, const Rows& to, FiniteCopy& copied) {
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
                copied.row(from + block.row_at(p, j), to.first + p * to.plane + j * to.line, block.numbers);
            }
    }

    std::shared_ptr<const FileBytes> bytes_;
    hdf5::DatasetPlace place_;
    std::vector<std::int64_t> grid_;
};

class LibraryField final : public VolumeField {
  public:
    LibraryField(std::string name, std::shared_ptr<const hdf5::Object> dataset)
        : VolumeField(std::move(name)), dataset_(std::move(dataset)) {}

  private:
    bool copy(const Slab& slab, const Rows& rows) const override {
        const std::array<std::int64_t, 4> start{slab.channel, slab.x, slab.y, slab.z};
        const std::array<std::int64_t, 4> count{1, slab.planes, slab.edge, slab.edge};
        thread_local std::vector<float> box;
        box.resize(slab.planes * slab.edge * slab.edge);
        {
            const hdf5::LibraryUse use(name());
            hdf5::read_box(*dataset_, start, count, box.data());
        }
        FiniteCopy copied;
        const auto* from = reinterpret_cast<const std::byte*>(box.data());
        for (std::int64_t i = 0; i < slab.planes; ++i)
            for (std::int64_t j = 0; j < slab.edge; ++j, from += slab.edge * 4)
                copied.row(from, rows.first + i * rows.plane + j * rows.line, slab.edge);
        return copied.all_finite();
    }

    std::shared_ptr<const hdf5::Object> dataset_;
};

// A part at a time: the library may need as much again.
std::vector<float> all_values(const hdf5::Object& dataset, const hdf5::DatasetPlace& place) {
    constexpr std::int64_t kPlanes = 16;
    const std::int64_t edge = place.shape[1];
    std::vector<float> values(static_cast<std::size_t>(place.shape[0] * edge * edge * edge));
    float* to = values.data();
    for (std::int64_t c = 0; c < place.shape[0]; ++c)
        for (std::int64_t x = 0; x < edge; x += kPlanes) {
            const std::array<std::int64_t, 4> start{c, x, 0, 0};
            const std::array<std::int64_t, 4> count{1, std::min(kPlanes, edge - x), edge, edge};
            hdf5::read_box(dataset, start, count, to);
            to += count[1] * edge * edge;
        }
    return values;
}

}  // namespace

void VolumeField::read(const Slab& slab, const Rows& rows) const {
    if (copy(slab, rows)) return;
    for (std::int64_t i = 0; i < slab.planes; ++i)
        for (std::int64_t j = 0; j < slab.edge; ++j)
            for (std::int64_t k = 0; k < slab.edge; ++k) {
                const float value = rows.first[i * rows.plane + j * rows.line + k];
                if (std::isfinite(value)) continue;
                throw base::DataError(
                    fmt::format("{}[{}, {}, {}, {}] is {}: no network learns from that; `ranklab data "
                                "verify` counts such "
                                "numbers, make the file anew",
                                name_, slab.channel, slab.x + i, slab.y + j, slab.z + k, value));
            }
}

std::unique_ptr<VolumeField> direct_field(std::string name, std::shared_ptr<const FileBytes> bytes,
                                          hdf5::DatasetPlace place) {
    return std::make_unique<DirectField>(std::move(name), std::move(bytes), std::move(place));
}

std::unique_ptr<VolumeField> library_field(std::string name, std::shared_ptr<const hdf5::Object> dataset) {
    return std::make_unique<LibraryField>(std::move(name), std::move(dataset));
}

std::unique_ptr<VolumeField> memory_field(std::string name, const hdf5::Object& dataset,
                                          hdf5::DatasetPlace place) {
    auto values = std::make_shared<const FileBytes>(name, all_values(dataset, place));
    place.chunk = place.shape;
    place.offsets = {0};
    return direct_field(std::move(name), std::move(values), std::move(place));
}

}  // namespace ranklab::data
