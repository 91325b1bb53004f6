#include "data/make/fourier_cube.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace ranklab::data {
namespace {

using Complex = FourierCube::Complex;

double value(std::int64_t i0, std::int64_t i1, std::int64_t i2) {
    return std::sin(static_cast<double>(i0 * 5 + i1 * 3 + i2)) +
           static_cast<double>((i0 * 7 + i1 * i2) % 4);
}

template <class Filter>
std::vector<double> filtered(std::int64_t edge, const Filter& filter) {
    FourierCube cube(edge);
    cube.forward([&](std::int64_t i0, std::int64_t i1, std::span<double> row) {
        for (std::size_t i2 = 0; i2 < row.size(); ++i2)
            row[i2] = value(i0, i1, static_cast<std::int64_t>(i2));
    });
    cube.inverse(filter);
    std::vector<double> made(static_cast<std::size_t>(edge * edge * edge));
    cube.read([&](std::int64_t first, std::span<const double> row) {
        std::copy(row.begin(), row.end(), made.begin() + first);
    });
    return made;
}

TEST(FourierCube, ThereAndBackIsTheSame) {
    for (const std::int64_t edge : {2, 5, 8}) {
        const auto made = filtered(edge, [](const Wave&) { return Complex(1); });
        const auto cells = static_cast<double>(edge * edge * edge);
        for (std::int64_t i = 0; i < edge * edge * edge; ++i)
            EXPECT_NEAR(made[static_cast<std::size_t>(i)] / cells,
                        value(i / (edge * edge), i / edge % edge, i % edge), 1e-12);
    }
}

// i k is a derivative: of a sine along one axis the cosine, and of the others nothing.
TEST(FourierCube, KnowsWhichWaveIsWhich) {
    constexpr std::int64_t kEdge = 8;
    const auto turn = [](std::int64_t i) {
        return 2 * std::numbers::pi * static_cast<double>(i) / kEdge;
    };
    FourierCube cube(kEdge);
    cube.forward([&](std::int64_t i0, std::int64_t i1, std::span<double> row) {
        for (std::size_t i2 = 0; i2 < row.size(); ++i2)
            row[i2] = std::sin(turn(i0)) + std::sin(2 * turn(i1)) +
                      std::sin(3 * turn(static_cast<int>(i2)));
    });
    for (const int axis : {0, 1, 2}) {
        cube.inverse([&](const Wave& wave) {
            return Complex(0, static_cast<double>(axis == 0   ? wave.a0
                                                  : axis == 1 ? wave.a1
                                                              : wave.a2));
        });
        cube.read([&](std::int64_t first, std::span<const double> row) {
            for (std::int64_t i2 = 0; i2 < kEdge; ++i2) {
                const std::int64_t along = axis == 0   ? first / (kEdge * kEdge)
                                           : axis == 1 ? first / kEdge % kEdge
                                                       : i2;
                const int waves = axis + 1;
                EXPECT_NEAR(row[static_cast<std::size_t>(i2)] / 512,
                            waves * std::cos(waves * turn(along)), 1e-12);
            }
        });
    }
}

TEST(FourierCube, HasTheSameBitsOnOneCoreAndOnAll) {
    const auto half = [](const Wave& wave) { return Complex(wave.a0 > 0 ? 0.5 : 1); };
    cpu_set_t all;
    ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
    const auto parallel = filtered(12, half);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
        if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(filtered(12, half), parallel);
    ::sched_setaffinity(0, sizeof all, &all);
}

}  // namespace
}  // namespace ranklab::data
