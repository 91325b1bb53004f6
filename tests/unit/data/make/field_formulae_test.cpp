#include <gtest/gtest.h>

#include <cmath>

#include "data/make/field_formulae.hpp"

namespace ranklab::data {
namespace {

TEST(PowerSpectrum, FadesBelowTheCutoff) {
    EXPECT_DOUBLE_EQ(power(3, 0.5), power(0, 0.5) * std::exp(-2.25));
}

// Cold dark matter: P rises as k^n on the largest scales, turns over, and falls nearly as k^(n -
// 4).
TEST(PowerSpectrum, TurnsOverForColdDarkMatter) {
    const auto slope = [&](double k) {
        return std::log(power(0, k * 1.01) / power(0, k)) / std::log(1.01);
    };
    EXPECT_NEAR(slope(1e-6), kSpectralIndex, 0.01);
    EXPECT_LT(slope(1), -2);
    EXPECT_GT(slope(1), -3);
}

TEST(PowerSpectrum, IsScaledToVarianceOne) {
    constexpr std::int64_t kEdge = 8;
    std::vector<std::int64_t> modes(3 * 16 + 1);
    for (int a = -3; a <= 4; ++a)
        for (int b = -3; b <= 4; ++b)
            for (int c = -3; c <= 4; ++c) ++modes[static_cast<std::size_t>(a * a + b * b + c * c)];
    EXPECT_EQ(modes_by_square(kEdge), modes);
    const auto table = amplitudes(1, kEdge, modes);
    EXPECT_EQ(table[0], 0) << "the mean is 0";
    double variance = 0;
    for (std::size_t n = 0; n < modes.size(); ++n)
        variance += static_cast<double>(modes[n]) * table[n] * table[n] / 512;
    EXPECT_NEAR(variance, 1, 1e-12);
    EXPECT_GT(velocity_spread(table, kEdge, modes), 0);
}

TEST(HydroMap, StaysWhereATanhReaches) {
    for (const double sigma : {0.5, 2.0, 20.0}) {
        const MatterScales scales{.sigma = sigma};
        for (double g = -8; g <= 8; g += 0.5)
            for (const double speed : {0.0, 0.3, 50.0})
                for (const double value :
                     {gas_density(scales, g), gas_velocity(speed), gas_velocity(-speed),
                      gas_temperature(scales, g, speed)}) {
                    EXPECT_LT(static_cast<float>(value), 1.0F);
                    EXPECT_GT(static_cast<float>(value), -1.0F);
                }
    }
}

TEST(HydroMap, RisesWithDensityAndSpeed) {
    const MatterScales scales;
    for (double g = -3; g < 3; g += 0.25) {
        EXPECT_GT(gas_density(scales, g + 0.25), gas_density(scales, g));
        EXPECT_GT(gas_temperature(scales, g + 0.25, 0.1), gas_temperature(scales, g, 0.1));
        EXPECT_GT(gas_temperature(scales, g, 0.2), gas_temperature(scales, g, 0.1));
    }
    // A cell at the mean density, at rest: 1e4 K.
    EXPECT_NEAR(gas_temperature(scales, 1, 0), std::tanh(std::log(1e4) / 8 - 1.5), 1e-12);
    EXPECT_NEAR(dark_matter(scales, 1), 0, 1e-12);
}

}  // namespace
}  // namespace ranklab::data
