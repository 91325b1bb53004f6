// The 24 proper rotations of the cube.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/volume_field.hpp"

namespace ranklab::data {

/// A rotation of the axes: the new axis k runs along the old axis `from[k]`, backwards where
/// `sign[k]` is -1. A vector's new component k is sign[k] times its old component from[k].
struct Rotation {
    std::array<int, 3> from{0, 1, 2};
    std::array<int, 3> sign{1, 1, 1};
    bool operator==(const Rotation&) const = default;
    int determinant() const;
    /// Whether rows along the last axis stay rows, in their direction.
    bool keeps_rows() const { return from[2] == 2 && sign[2] == 1; }
};

/// All rotations of determinant +1; the first is the identity. The published workload's table also
/// holds mirrored ones, which turn right-handed structures into left-handed ones.
const std::vector<Rotation>& rotations();

/// The number at (i, j, k) of a cube [edge, edge, edge] goes to place base + i * step[0] + j *
/// step[1] + k * step[2] of the turned cube.
struct Turned {
    std::ptrdiff_t base = 0;
    std::array<std::ptrdiff_t, 3> step{};
};
Turned turned(const Rotation& rotation, std::int64_t edge);

/// Writes planes x .. x + planes of a cube, which lie in `from` with `plane_stride` numbers from
/// one to the next, to their places in the turned cube `to`; with the other sign where `negate`.
struct Planes {
    const float* from = nullptr;
    std::int64_t x = 0;
    std::int64_t planes = 0;
    std::ptrdiff_t plane_stride = 0;
};
void turn(const Planes& planes, const Rotation& rotation, std::int64_t edge, bool negate,
          float* to);

}  // namespace ranklab::data
