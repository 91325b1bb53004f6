#include "data/rotation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace ranklab::data {
namespace {

using Matrix = std::array<std::array<int, 3>, 3>;

Matrix matrix_of(const Rotation& rotation) {
    Matrix matrix{};
    for (std::size_t k = 0; k < 3; ++k)
        matrix[k][static_cast<std::size_t>(rotation.from[k])] = rotation.sign[k];
    return matrix;
}

int determinant(const Matrix& m) {
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
           m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

Matrix product(const Matrix& a, const Matrix& b) {
    Matrix c{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            for (std::size_t k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
    return c;
}

TEST(Rotations, AreTheGroupOfTheCubesProperRotations) {
    std::vector<Matrix> all;
    for (const auto& rotation : rotations()) all.push_back(matrix_of(rotation));
    EXPECT_EQ(all.size(), 24);
    EXPECT_EQ(rotations().front(), Rotation{}) << "the identity";
    const auto has = [&](const Matrix& m) { return std::count(all.begin(), all.end(), m); };
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(determinant(all[i]), 1);
        EXPECT_EQ(rotations()[i].determinant(), 1);
        EXPECT_EQ(has(all[i]), 1) << "distinct";
        for (const auto& other : all) EXPECT_EQ(has(product(all[i], other)), 1) << "closed";
    }
    EXPECT_EQ((Rotation{{0, 1, 2}, {1, 1, -1}}.determinant()), -1) << "a mirror";
    EXPECT_EQ((Rotation{{1, 0, 2}, {1, 1, 1}}.determinant()), -1);
}

std::vector<float> numbered(std::int64_t edge) {
    std::vector<float> cube(static_cast<std::size_t>(edge * edge * edge));
    std::iota(cube.begin(), cube.end(), 1.0F);
    return cube;
}

/// By the definition: the new place (o0, o1, o2) holds the number of the old place whose coordinate
/// from[k] is o_k, counted from the other end where the sign is -1.
std::vector<float> turned_plainly(const std::vector<float>& cube, const Rotation& rotation,
                                  std::int64_t edge) {
    std::vector<float> out(cube.size());
    std::array<std::int64_t, 3> o{};
    std::size_t n = 0;
    for (o[0] = 0; o[0] < edge; ++o[0])
        for (o[1] = 0; o[1] < edge; ++o[1])
            for (o[2] = 0; o[2] < edge; ++o[2]) {
                std::array<std::int64_t, 3> i{};
                for (std::size_t k = 0; k < 3; ++k)
                    i[static_cast<std::size_t>(rotation.from[k])] =
                        rotation.sign[k] > 0 ? o[k] : edge - 1 - o[k];
                out[n++] = cube[static_cast<std::size_t>((i[0] * edge + i[1]) * edge + i[2])];
            }
    return out;
}

TEST(Turn, MovesEachNumberToItsPlace) {
    for (const std::int64_t edge : {1, 3, 4, 16, 18, 37}) {
        const auto cube = numbered(edge);
        for (const auto& rotation : rotations()) {
            std::vector<float> out(cube.size(), -1.0F);
            turn(cube.data(), edge * edge, rotation, edge, false, out.data());
            EXPECT_EQ(out, turned_plainly(cube, rotation, edge)) << "edge " << edge;
        }
    }
}

TEST(Turn, ChangesTheSignWhereAsked) {
    constexpr std::int64_t kEdge = 6;
    const auto cube = numbered(kEdge);
    for (const auto& rotation : rotations()) {
        std::vector<float> out(cube.size());
        turn(cube.data(), kEdge * kEdge, rotation, kEdge, true, out.data());
        auto expected = turned_plainly(cube, rotation, kEdge);
        for (auto& value : expected) value = -value;
        EXPECT_EQ(out, expected);
    }
}

TEST(Turn, PlanesMayLieApart) {
    constexpr std::int64_t kEdge = 8;
    constexpr std::int64_t kStride = kEdge * kEdge + 16;
    const auto cube = numbered(kEdge);
    std::vector<float> apart(kEdge * kStride, -1.0F);
    for (std::int64_t x = 0; x < kEdge; ++x)
        std::copy_n(cube.begin() + x * kEdge * kEdge, kEdge * kEdge, apart.begin() + x * kStride);
    for (const auto& rotation : rotations()) {
        std::vector<float> out(cube.size());
        turn(apart.data(), kStride, rotation, kEdge, false, out.data());
        EXPECT_EQ(out, turned_plainly(cube, rotation, kEdge));
    }
}

}  // namespace
}  // namespace ranklab::data
