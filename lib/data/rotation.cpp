#include "data/rotation.hpp"

#include <algorithm>

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
    // The axis along which the rotated cube is contiguous, forwards or backwards; if that is the
    // cube's own last axis, any other one.
    const std::size_t rows = rotation.from[2] == 0 ? 0 : 1;
    const std::size_t other = 1 - rows;
    // Tiles of 16 rows: they stay in the cache while whole cache lines are written.
    constexpr std::int64_t kTile = 16;
    for (std::int64_t i = 0; i < edge; ++i)
        for (std::int64_t tile = 0; tile < edge; tile += kTile)
            for (std::int64_t k = 0; k < edge; ++k)
                for (std::int64_t r = tile; r < std::min(tile + kTile, edge); ++r)
                    to[base + i * step[other] + r * step[rows] + k * step[2]] =
                        sign * cube[i * stride[other] + r * stride[rows] + k];
}

}  // namespace ranklab::data
