#include "io/kernel.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.hpp"

namespace ranklab::io {
namespace {

std::uint64_t bits(double value) {
    return std::bit_cast<std::uint64_t>(value);
}

// Each step through volatile memory, so that no compiler fuses two steps; with C's fmod.
double long_hand(double x, double y, double n, double t) {
    volatile double a = x / 10;
    a = a * a;
    volatile double b = y / 10;
    volatile double left = a * b;
    b = b * b;
    volatile double right = x / 10;
    right = b * right;
    volatile double sum = left + right;
    volatile double rest = t / n;
    sum = sum + rest;
    rest = std::fmod(sum, 1.0);
    if (rest < 0) rest = rest + 1;
    return rest == 0 ? 0.0 : rest;  // NumPy's zero has the sign of the divisor
}

TEST(Kernel, IsTheFormulaByHand) {
    EXPECT_EQ(value_at(10, 20, 4, 1), 0.25);   // 1*2 + 4*1 + 0.25
    EXPECT_EQ(value_at(5, 10, 2, 1), 0.25);    // 0.25*1 + 1*0.5 + 0.5 = 1.25
    EXPECT_EQ(value_at(0, 500, 15, 0), 0.0);   // 0
    EXPECT_EQ(value_at(20, 10, 8, 7), 0.875);  // 4*1 + 1*2 + 0.875
}

TEST(Kernel, TheModuloOfANegativeSumIsFloored) {
    EXPECT_EQ(value_at(-10, 20, 4, 1), 0.25);     // 2 - 4 + 0.25 = -1.75
    EXPECT_EQ(value_at(-10, 15, 4, 1), 0.5);      // 1.5 - 2.25 + 0.25 = -0.5
    const double zero = value_at(-10, 20, 4, 0);  // -2: no negative zero
    EXPECT_EQ(bits(zero), bits(0.0));
    EXPECT_EQ(value_at(0, 0, 1, -1e-20), 1.0);  // as -1e-20 % 1 in Python
}

TEST(Kernel, TheGridIsNumpysArange) {
    const Grid seven(7);
    ASSERT_EQ(seven.size(), 7);
    EXPECT_EQ(seven.x, (std::vector<double>{-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5}));
    EXPECT_EQ(seven.y.front(), 496.5);
    EXPECT_EQ(seven.y.back(), 502.5);
    const Grid one(1);
    EXPECT_EQ(one.x, std::vector<double>{-0.5});
    EXPECT_EQ(one.y, std::vector<double>{499.5});
    const Grid hundred(100);
    EXPECT_EQ(hundred.x.front(), -50);
    EXPECT_EQ(hundred.y.back(), 549);
}

class KernelOfSize : public ::testing::TestWithParam<std::int64_t> {
  protected:
    static constexpr std::int64_t kFiles = 7;
    std::int64_t size() const { return GetParam(); }
    std::size_t cells() const { return static_cast<std::size_t>(size() * size()); }
    std::vector<double> record(Order order, std::int64_t t) const {
        std::vector<double> values(cells());
        fill_record(Grid(size()), order, kFiles, t, 0, size(), values);
        return values;
    }
};

TEST_P(KernelOfSize, ARecordHasTheBitsOfTheLoop) {
    const Grid grid(size());
    bool negative_seen = false;
    for (std::int64_t t = 0; t < kFiles; ++t) {
        const auto values = record(Order::by_y, t);
        std::size_t i = 0;
        for (const double y : grid.y) {
            for (const double x : grid.x) {
                const double expected = long_hand(x, y, kFiles, static_cast<double>(t));
                ASSERT_EQ(bits(values[i]), bits(expected)) << "x " << x << " y " << y << " t " << t;
                ASSERT_EQ(bits(value_at(x, y, kFiles, static_cast<double>(t))), bits(expected));
                negative_seen = negative_seen || x < 0;
                ++i;
            }
        }
    }
    EXPECT_TRUE(negative_seen);  // half of the grid makes negative sums
}

TEST_P(KernelOfSize, ByXIsTheTransposeOfByY) {
    const auto by_y = record(Order::by_y, 3);
    const auto by_x = record(Order::by_x, 3);
    const auto n = static_cast<std::size_t>(size());
    for (std::size_t r = 0; r < n; ++r)
        for (std::size_t c = 0; c < n; ++c) ASSERT_EQ(bits(by_x[r * n + c]), bits(by_y[c * n + r]));
    if (n > 1) {
        EXPECT_NE(by_x, by_y);
    }
}

TEST_P(KernelOfSize, TheMeshgridMakesTheSameBits) {
    const Grid grid(size());
    std::vector<double> x;
    std::vector<double> y;
    for (const double of_row : grid.y) {
        x.insert(x.end(), grid.x.begin(), grid.x.end());
        y.insert(y.end(), grid.x.size(), of_row);
    }
    std::vector<double> values(cells());
    fill_from_meshgrid(x, y, kFiles, 5, values);
    const auto expected = record(Order::by_y, 5);
    for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(bits(values[i]), bits(expected[i])) << i;
}

TEST_P(KernelOfSize, RowsByPartsAreTheWhole) {
    const Grid grid(size());
    for (const Order order : {Order::by_y, Order::by_x}) {
        std::vector<double> values(cells());
        const std::int64_t middle = size() / 3;
        const auto cut = static_cast<std::size_t>(middle * size());
        fill_record(grid, order, kFiles, 2, 0, middle, std::span(values).first(cut));
        fill_record(grid, order, kFiles, 2, middle, size() - middle,
                    std::span(values).subspan(cut));
        EXPECT_EQ(values, record(order, 2));
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, KernelOfSize, ::testing::Values(1, 7, 37, 100));

TEST(Kernel, ABufferOfAnotherSizeIsAnError) {
    std::vector<double> values(9);
    const std::vector<double> axis(4);
    EXPECT_THROW(fill_record(Grid(2), Order::by_y, 1, 0, 0, 2, values), base::Error);
    EXPECT_THROW(fill_from_meshgrid(axis, axis, 1, 0, values), base::Error);
}

}  // namespace
}  // namespace ranklab::io
