// The 24 proper rotations of the cube.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ranklab::data {

/// The new axis k runs along the old axis `from[k]`, backwards if `sign[k]` is -1. A vector's new
/// component k is sign[k] times its old component from[k].
struct Rotation {
    std::array<int, 3> from{0, 1, 2};
    std::array<int, 3> sign{1, 1, 1};
    bool operator==(const Rotation&) const = default;
    int determinant() const;
    /// True if rows along the last axis remain rows along the last axis, in the same direction.
    bool keeps_rows() const { return from[2] == 2 && sign[2] == 1; }
};

/// The 24 rotations of determinant +1; the first is the identity. The published code also has
/// reflections, which turn right-handed structures into left-handed ones.
const std::vector<Rotation>& rotations();

/// Element (i, j, k) of a cube [edge, edge, edge] becomes element base + i * step[0] + j * step[1]
/// + k * step[2] of the rotated cube.
struct Turned {
    std::ptrdiff_t base = 0;
    std::array<std::ptrdiff_t, 3> step{};
};
Turned turned(const Rotation& rotation, std::int64_t edge);

/// Writes the rotated `cube` to `to`, negated if `negate`. Planes of `cube` begin `plane_stride`
/// elements apart.
void turn(const float* cube, std::ptrdiff_t plane_stride, const Rotation& rotation,
          std::int64_t edge, bool negate, float* to);

}  // namespace ranklab::data
