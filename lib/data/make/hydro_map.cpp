#include "data/make/hydro_map.hpp"

#include <algorithm>
#include <cmath>

namespace ranklab::data {
namespace {

constexpr double kDensityUnit = 14;
constexpr double kColdestLog = 9.210340371976184;  // ln(1e4 K)
constexpr double kHeating = 4;
constexpr double kSteepness = 0.6;

// The network's last layer is a tanh: what it should learn lies in (-1, 1), in float32 too.
double into_reach(double value) {
    constexpr double kMost = 0.9999;
    return std::clamp(std::tanh(value), -kMost, kMost);
}

double rising(double x) {
    return 1 / (1 + std::exp(-x));
}

}  // namespace

double log_density(const MatterScales& scales, double g) {
    return scales.sigma * g - scales.sigma * scales.sigma / 2;
}

double dark_matter(const MatterScales& scales, double g) {
    return log_density(scales, g) / kDensityUnit;
}

double gas_density(const MatterScales& scales, double g) {
    return into_reach(log_density(scales, g) / kDensityUnit);
}

double gas_velocity(double component) {
    return into_reach(component);
}

double gas_temperature(const MatterScales& scales, double g, double speed_squared) {
    const double density = log_density(scales, g);
    const double fast = speed_squared / (speed_squared + 3 * scales.speed * scales.speed);
    const double log_t = kColdestLog + kSteepness * density + kHeating * rising(density) * fast;
    return into_reach(log_t / 8 - 1.5);
}

}  // namespace ranklab::data
