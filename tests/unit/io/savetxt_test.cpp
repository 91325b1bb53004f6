// C's printf is the oracle: it rounds to nearest, ties to even, as Python's "%.18e" does.
#include "io/record_files.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "io/kernel.hpp"

namespace ranklab::io {
namespace {

std::string printed(double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.18e", value);
    return text;
}

std::string written(double value) {
    char text[64];
    std::memset(text, '#', sizeof text);
    char* end = write_value(value, text);
    for (const char* after = text + kLongestValue; after < text + sizeof text; ++after)
        EXPECT_EQ(*after, '#') << "written behind the room it has, for " << printed(value);
    return std::string(text, end);
}

// Without gtest's macros, which cost more than the conversion.
bool equal(double value) {
    char expected[64];
    char got[64];
    const int length = std::snprintf(expected, sizeof expected, "%.18e", value);
    const char* end = write_value(value, got);
    return end - got == length && std::memcmp(expected, got, static_cast<std::size_t>(length)) == 0;
}

#define EXPECT_WRITTEN(value) EXPECT_EQ(written(value), printed(value))

TEST(Savetxt, KnownValues) {
    EXPECT_EQ(written(0.0), "0.000000000000000000e+00");
    EXPECT_EQ(written(-0.0), "-0.000000000000000000e+00");
    EXPECT_EQ(written(1.0), "1.000000000000000000e+00");
    EXPECT_EQ(written(0.5), "5.000000000000000000e-01");
    EXPECT_EQ(written(0.1), "1.000000000000000056e-01");
    EXPECT_EQ(written(-1.5), "-1.500000000000000000e+00");
    EXPECT_EQ(written(-std::numeric_limits<double>::max()), "-1.797693134862315708e+308");
}

TEST(Savetxt, TheLaddersOwnNumbers) {
    int checked = 0;
    std::vector<double> values;
    for (const std::int64_t size : {37, 100}) {
        const Grid grid(size);
        values.resize(static_cast<std::size_t>(size * size));
        for (std::int64_t t = 0; t < 10; ++t) {
            fill_record(grid, Order::by_y, 10, t, 0, size, values);
            for (const double value : values)
                ASSERT_TRUE(equal(value)) << printed(value) << " " << written(value);
            checked += static_cast<int>(values.size());
        }
    }
    EXPECT_GT(checked, 100000);
}

TEST(Savetxt, RandomFractions) {
    std::mt19937_64 random(7);
    for (int i = 0; i < 100000; ++i) {
        // 53 random bits, below 1.
        const double uniform = static_cast<double>(random() >> 11U) * 0x1p-53;
        ASSERT_TRUE(equal(uniform)) << printed(uniform);
        const double small = std::ldexp(uniform, -static_cast<int>(random() % 70));
        ASSERT_TRUE(equal(small)) << printed(small);
    }
}

TEST(Savetxt, AllFractionsOfSmallPowersOfTwo) {
    for (int power = 0; power <= 15; ++power) {
        for (std::int64_t k = 0; k <= std::int64_t{1} << power; ++k) {
            const double value = std::ldexp(static_cast<double>(k), -power);
            ASSERT_TRUE(equal(value)) << k << " / 2^" << power;
        }
    }
}

// An odd k / 2^m has m decimals, the last one 5. With z zeros after the point it has m - z digits;
// 20 digits lie half-way between two texts of 19 digits.
TEST(Savetxt, TiesGoToTheEvenDigit) {
    int ties = 0;
    for (int zeros = 0; zeros <= 6; ++zeros) {
        const int power = 20 + zeros;
        const double least = std::pow(10.0, -zeros - 1);
        const auto first = static_cast<std::int64_t>(std::ceil(std::ldexp(least, power))) | 1;
        const auto last = static_cast<std::int64_t>(std::ldexp(10 * least, power));
        for (std::int64_t k = first; k < last; k += 2 * (1 + last / 200000)) {
            const double value = std::ldexp(static_cast<double>(k), -power);
            ASSERT_TRUE(equal(value))
                << k << " / 2^" << power << " " << printed(value) << " " << written(value);
            ++ties;
        }
    }
    EXPECT_GT(ties, 100000);
    // 2^-20 = 9.5367431640625e-07 has fewer than 20 digits.
    EXPECT_WRITTEN(std::ldexp(104859.0, -20));
    EXPECT_WRITTEN(std::ldexp(104861.0, -20));
}

TEST(Savetxt, AroundEveryPowerOfTen) {
    for (int e = -320; e <= 308; ++e) {
        double value = std::strtod(("1e" + std::to_string(e)).c_str(), nullptr);
        for (int i = 0; i < 3; ++i) value = std::nextafter(value, 0.0);
        for (int i = 0; i < 7; ++i) {
            EXPECT_WRITTEN(value);
            EXPECT_WRITTEN(-value);
            value = std::nextafter(value, std::numeric_limits<double>::infinity());
        }
    }
}

TEST(Savetxt, WhereTheQuickWayBeginsAndEnds) {
    for (const double edge :
         {1.0, 0x1p-63, 0x1p-64, 0x1p-65, 0x1p-52, 0x1p-53, 0x1p-11, 0x1p-12, 0x1p-13}) {
        EXPECT_WRITTEN(edge);
        EXPECT_WRITTEN(std::nextafter(edge, 0.0));
        EXPECT_WRITTEN(std::nextafter(edge, 2.0));
        EXPECT_WRITTEN(edge * 1.5);
        EXPECT_WRITTEN(edge * 1.75);
    }
}

TEST(Savetxt, AnyFiniteNumber) {
    std::mt19937_64 random(11);
    int subnormal = 0;
    for (int i = 0; i < 60000; ++i) {
        auto bits = random();
        if (i % 16 == 0) bits &= ~(std::uint64_t{0x7FF} << 52U);
        const auto value = std::bit_cast<double>(bits);
        if (!std::isfinite(value)) continue;
        if (std::fpclassify(value) == FP_SUBNORMAL) ++subnormal;
        ASSERT_TRUE(equal(value)) << printed(value) << " " << written(value);
    }
    EXPECT_GT(subnormal, 1000);
    EXPECT_WRITTEN(std::numeric_limits<double>::denorm_min());
    EXPECT_WRITTEN(-std::numeric_limits<double>::denorm_min());
    EXPECT_WRITTEN(std::numeric_limits<double>::min());
}

}  // namespace
}  // namespace ranklab::io
