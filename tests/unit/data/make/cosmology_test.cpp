#include "data/make/tools.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ranklab::data {
namespace {

TEST(NoisePlane, FollowsFromSeedChannelAndPlaceAlone) {
    const auto whole = noise_plane(1, 0, 40, 70);
    const auto part = noise_plane(1, 0, 40, 33);
    for (std::size_t y = 0; y < 33; ++y)
        for (std::size_t z = 0; z < 33; ++z)
            ASSERT_EQ(part[y * 33 + z], whole[y * 70 + z]) << y << ", " << z;
    EXPECT_NE(noise_plane(2, 0, 40, 33), part);
    EXPECT_NE(noise_plane(1, 1, 40, 33), part);
    EXPECT_NE(noise_plane(1, 0, 41, 33), part);
}

TEST(NoisePlane, HasMean0AndVariance1) {
    constexpr std::int64_t kWidth = 64;
    double sum = 0;
    double squares = 0;
    double steps = 0;  // along z
    for (std::uint64_t seed = 1; seed <= 40; ++seed)
        for (std::int64_t x = 0; x < kWidth; x += 16) {
            const auto plane = noise_plane(seed, 0, x, kWidth);
            for (std::size_t i = 0; i < plane.size(); ++i) {
                sum += plane[i];
                squares += std::pow(plane[i], 2);
                if (i % kWidth > 0) steps += std::pow(plane[i] - plane[i - 1], 2);
            }
        }
    const double cells = 40 * 4 * kWidth * kWidth;
    EXPECT_NEAR(sum / cells, 0, 0.1);
    EXPECT_NEAR(squares / cells, 1, 0.1);
    EXPECT_LT(std::sqrt(steps / cells), 0.25) << "neighbours are alike";
}

TEST(GasOf, StaysWithinTheReachOfATanh) {
    for (const double n : {-1e6, -4.0, 0.0, 4.0, 1e6})
        for (const double value : gas_of({n, n, -n, 0})) {
            EXPECT_LT(static_cast<float>(value), 1.0F);
            EXPECT_GT(static_cast<float>(value), -1.0F);
        }
}

TEST(GasOf, RisesWithDensityAndSpeed) {
    const auto gas = [](double density, double speed) { return gas_of({density, speed, 0, 0}); };
    EXPECT_GT(gas(1, 0)[0], gas(0, 0)[0]);
    EXPECT_GT(gas(0, 1)[1], gas(0, 0)[1]);
    EXPECT_GT(gas(1, 1)[4], gas(0, 1)[4]);
    EXPECT_GT(gas(0, 2)[4], gas(0, 1)[4]);
    // At rest and at ln(rho) = 0: 1e4 K.
    EXPECT_NEAR(gas(1, 0)[4], std::tanh(std::log(1e4) / 8 - 1.5), 1e-12);
}

}  // namespace
}  // namespace ranklab::data
