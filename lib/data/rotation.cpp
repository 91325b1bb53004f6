#include "data/rotation.hpp"

#include <algorithm>
#include <bit>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace ranklab::data {
namespace {

using Four = std::int32_t __attribute__((vector_size(16)));  // the bits of four numbers
using Bits = std::int32_t __attribute__((may_alias));

std::vector<Rotation> make_rotations() {
    std::vector<Rotation> found;
    std::array<int, 3> axes{0, 1, 2};
    do {
        for (unsigned signs = 0; signs < 8; ++signs) {
            const auto sign = [&](unsigned k) { return (signs >> k & 1U) != 0 ? -1 : 1; };
            const Rotation rotation{axes, {sign(0), sign(1), sign(2)}};
            if (rotation.determinant() == 1) found.push_back(rotation);
        }
    } while (std::next_permutation(axes.begin(), axes.end()));
    return found;
}

Four load(const Bits* from) {
    Four v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}
void store(Bits* to, Four v) {
    __builtin_memcpy(to, &v, sizeof v);
}

// Stores past the caches: whole lines are written, so that none is read before (a third of the
// turn's time), and the planes stay in the cache. `to` is aligned to 16 bytes.
void store_past(Bits* to, Four v) {
#ifdef __SSE2__
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), std::bit_cast<__m128i>(v));
#else
    store(to, v);
#endif
}
// Such stores may be seen later than what this thread writes after them, unless it says so.
void finish_stores() {
#ifdef __SSE2__
    _mm_sfence();
#endif
}

// A plane of rows [rows, columns] becomes columns: element (r, c) goes to to[r * row_step + c *
// column_step], row_step being 1 or -1.
struct Plane {
    const Bits* from = nullptr;
    std::ptrdiff_t from_stride = 0;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    Bits* to = nullptr;
    std::ptrdiff_t row_step = 1;
    std::ptrdiff_t column_step = 0;
};

void transpose_plain(const Plane& p, std::int64_t first_row, std::int64_t first_column, Bits flip) {
    for (std::int64_t c = first_column; c < p.columns; ++c)
        for (std::int64_t r = first_row; r < p.rows; ++r)
            p.to[r * p.row_step + c * p.column_step] = p.from[r * p.from_stride + c] ^ flip;
}

// Four rows of four numbers, the row with the lowest target first.
template <void (*Store)(Bits*, Four)>
void transpose_four(const Bits* from, std::ptrdiff_t stride, Bits* to, std::ptrdiff_t column_step,
                    Four flip) {
    const Four a = load(from);
    const Four b = load(from + stride);
    const Four c = load(from + 2 * stride);
    const Four d = load(from + 3 * stride);
    const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const Four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const Four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    Store(to, __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5) ^ flip);
    Store(to + column_step, __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7) ^ flip);
    Store(to + 2 * column_step, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5) ^ flip);
    Store(to + 3 * column_step, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7) ^ flip);
}

bool is_aligned(const Plane& p) {
    constexpr std::uintptr_t kBytes = 16;
    return reinterpret_cast<std::uintptr_t>(p.to + (p.row_step > 0 ? 0 : -3)) % kBytes == 0 &&
           p.column_step % 4 == 0;
}

// In blocks of 16 rows and 4 columns: whole cache lines are written, one after the other.
template <void (*Store)(Bits*, Four)>
void transpose_blocks(const Plane& p, std::int64_t rows, std::int64_t columns, Bits flip) {
    constexpr std::int64_t kRows = 16;
    const Four flips{flip, flip, flip, flip};
    for (std::int64_t block = 0; block < rows; block += kRows)
        for (std::int64_t c = 0; c < columns; c += 4)
            for (std::int64_t r = block; r < std::min(block + kRows, rows); r += 4) {
                const std::int64_t lowest = p.row_step > 0 ? r : r + 3;
                transpose_four<Store>(
                    p.from + lowest * p.from_stride + c, p.row_step * p.from_stride,
                    p.to + lowest * p.row_step + c * p.column_step, p.column_step, flips);
            }
}

void transpose(const Plane& p, Bits flip) {
    const std::int64_t rows = p.rows / 4 * 4;
    const std::int64_t columns = p.columns / 4 * 4;
    if (is_aligned(p)) {
        transpose_blocks<store_past>(p, rows, columns, flip);
    } else {
        transpose_blocks<store>(p, rows, columns, flip);
    }
    transpose_plain(p, rows, 0, flip);
    if (columns < p.columns) {
        Plane rest = p;
        rest.rows = rows;
        transpose_plain(rest, 0, columns, flip);
    }
}

void copy_row(const Bits* from, std::int64_t n, Bits* to, std::ptrdiff_t step, Bits flip) {
    if (step == 1) {
        for (std::int64_t k = 0; k < n; ++k) to[k] = from[k] ^ flip;
    } else {
        for (std::int64_t k = 0; k < n; ++k) to[k - n + 1] = from[n - 1 - k] ^ flip;
    }
}

}  // namespace

int Rotation::determinant() const {
    const int swaps = (from[0] > from[1]) + (from[0] > from[2]) + (from[1] > from[2]);
    return (swaps % 2 == 0 ? 1 : -1) * sign[0] * sign[1] * sign[2];
}

const std::vector<Rotation>& rotations() {
    static const std::vector<Rotation> all = make_rotations();
    return all;
}

Turned turned(const Rotation& rotation, std::int64_t edge) {
    Turned result;
    const std::array<std::int64_t, 3> stride{edge * edge, edge, 1};
    for (std::size_t k = 0; k < 3; ++k) {
        result.step[rotation.from[k]] = rotation.sign[k] * stride[k];
        if (rotation.sign[k] < 0) result.base += (edge - 1) * stride[k];
    }
    return result;
}

void turn(const Planes& planes, const Rotation& rotation, std::int64_t edge, bool negate,
          float* to) {
    const Bits flip = negate ? std::bit_cast<std::int32_t>(0x80000000U) : 0;
    const auto [base, step] = turned(rotation, edge);
    const auto* const from = reinterpret_cast<const Bits*>(planes.from);
    auto* const out = reinterpret_cast<Bits*>(to) + base + planes.x * step[0];
    if (rotation.from[2] == 2) {
        for (std::int64_t i = 0; i < planes.planes; ++i)
            for (std::int64_t j = 0; j < edge; ++j)
                copy_row(from + i * planes.plane_stride + j * edge, edge,
                         out + i * step[0] + j * step[1], step[2], flip);
    } else if (rotation.from[2] == 1) {
        for (std::int64_t i = 0; i < planes.planes; ++i)
            transpose({from + i * planes.plane_stride, edge, edge, edge, out + i * step[0], step[1],
                       step[2]},
                      flip);
    } else {
        for (std::int64_t j = 0; j < edge; ++j)
            transpose({from + j * edge, planes.plane_stride, planes.planes, edge, out + j * step[1],
                       step[0], step[2]},
                      flip);
    }
    finish_stores();
}

}  // namespace ranklab::data
