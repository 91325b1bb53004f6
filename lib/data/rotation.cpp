#include "data/rotation.hpp"

#include <algorithm>
#include <cstring>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

namespace ranklab::data {
namespace {

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

constexpr std::int64_t kLine = 16;  // numbers in a cache line

// Writes an aligned cache line by non-temporal stores, which do not read the line first and make a
// rotation three times as fast.
void store_line(const float* line, float* to) {
#ifdef __SSE2__
    if (reinterpret_cast<std::uintptr_t>(to) % (kLine * sizeof(float)) == 0) {
        for (std::int64_t i = 0; i < kLine; i += 4) _mm_stream_ps(to + i, _mm_load_ps(line + i));
        return;
    }
#endif
    std::memcpy(to, line, kLine * sizeof(float));
}

// Transposes a plane: element (r, c) goes to to[r * row_step + c * column_step], with a row_step
// of 1 or -1. Works in tiles of 16 rows, which stay in the cache.
void transpose(const float* from, std::ptrdiff_t stride, std::int64_t edge, float sign, float* to,
               std::ptrdiff_t row_step, std::ptrdiff_t column_step) {
    alignas(64) std::array<float, kLine> line;
    for (std::int64_t tile = 0; tile < edge; tile += kLine) {
        const std::int64_t rows = std::min(kLine, edge - tile);
        // The row that goes to the lowest address.
        const std::int64_t first = row_step > 0 ? tile : tile + rows - 1;
        for (std::int64_t c = 0; c < edge; ++c) {
            const float* const column = from + first * stride + c;
            float* const out = to + first * row_step + c * column_step;
            float* const target = rows == kLine ? line.data() : out;
            for (std::int64_t r = 0; r < rows; ++r)
                target[r] = sign * column[r * row_step * stride];
            if (rows == kLine) store_line(line.data(), out);
        }
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

void turn(const float* cube, std::ptrdiff_t plane_stride, const Rotation& rotation,
          std::int64_t edge, bool negate, float* to) {
    const float sign = negate ? -1 : 1;
    const auto [base, step] = turned(rotation, edge);
    const std::array<std::ptrdiff_t, 3> stride{plane_stride, edge, 1};
    // The axis of `cube` along which the rotated cube is contiguous; 1 if that is axis 2.
    const std::size_t rows = rotation.from[2] == 0 ? 0 : 1;
    const std::size_t other = 1 - rows;
    for (std::int64_t i = 0; i < edge; ++i) {
        const float* const from = cube + i * stride[other];
        float* const out = to + base + i * step[other];
        if (rotation.from[2] != 2)
            transpose(from, stride[rows], edge, sign, out, step[rows], step[2]);
        else
            for (std::int64_t r = 0; r < edge; ++r)
                for (std::int64_t k = 0; k < edge; ++k)
                    out[r * step[1] + k * step[2]] = sign * from[r * edge + k];
    }
#ifdef __SSE2__
    _mm_sfence();  // otherwise another thread may see a later store first
#endif
}

}  // namespace ranklab::data
