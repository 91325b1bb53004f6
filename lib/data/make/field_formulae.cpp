#include "data/make/field_formulae.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/numbers.hpp"

namespace ranklab::data {
namespace {

constexpr double kCellMpc = 0.1;  // over h
constexpr double kGamma = 0.21;   // Omega_m h
constexpr double kDensityUnit = 14;
constexpr double kColdestLog = 9.210340371976184;  // ln(1e4 K)
constexpr double kHeating = 4;
constexpr double kSteepness = 0.6;

double transfer(double q) {
    const double p =
        1 + 3.89 * q + std::pow(16.1 * q, 2) + std::pow(5.46 * q, 3) + std::pow(6.71 * q, 4);
    return std::log(1 + 2.34 * q) / (2.34 * q) * std::pow(p, -0.25);
}

double radians_a_cell(std::size_t n_squared, std::int64_t edge) {
    return 2 * std::numbers::pi * std::sqrt(base::real(n_squared)) / base::real(edge);
}

double cells(std::int64_t edge) {
    return base::real(edge) * base::real(edge) * base::real(edge);
}

double log_density(const MatterScales& scales, double g) {
    return scales.sigma * g - scales.sigma * scales.sigma / 2;
}

// The network's last layer is a tanh: what it should learn lies in (-1, 1), in float32 too.
double into_reach(double value) {
    constexpr double kMost = 0.9999;
    return std::clamp(std::tanh(value), -kMost, kMost);
}

}  // namespace

double power(double cutoff, double k) {
    const double p = std::pow(k, kSpectralIndex) * std::exp(-std::pow(k * cutoff, 2));
    return p * std::pow(transfer(k / kCellMpc / kGamma), 2);
}

std::vector<std::int64_t> modes_by_square(std::int64_t edge) {
    const std::int64_t half = edge / 2;
    std::vector<std::int64_t> modes(3 * half * half + 1);
    const auto weight = [&](std::int64_t n) { return n == 0 || 2 * n == edge ? 1 : 2; };
    for (std::int64_t a = 0; a <= half; ++a)
        for (std::int64_t b = 0; b <= half; ++b)
            for (std::int64_t c = 0; c <= half; ++c)
                modes[a * a + b * b + c * c] += weight(a) * weight(b) * weight(c);
    return modes;
}

std::vector<double> amplitudes(double cutoff, std::int64_t edge,
                               const std::vector<std::int64_t>& modes) {
    std::vector<double> table(modes.size(), 0.0);
    double variance = 0;
    for (std::size_t n = 1; n < modes.size(); ++n) {
        if (modes[n] == 0) continue;
        const double p = power(cutoff, radians_a_cell(n, edge));
        variance += base::real(modes[n]) * p / cells(edge);
        table[n] = std::sqrt(p);
    }
    for (double& amplitude : table) amplitude /= std::sqrt(variance);
    return table;
}

double velocity_spread(const std::vector<double>& amplitudes, std::int64_t edge,
                       const std::vector<std::int64_t>& modes) {
    double variance = 0;
    for (std::size_t n = 1; n < modes.size(); ++n) {
        const double u = amplitudes[n] / radians_a_cell(n, edge);
        variance += base::real(modes[n]) * u * u / 3 / cells(edge);
    }
    return std::sqrt(variance);
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
    const double rising = 1 / (1 + std::exp(-density));
    return into_reach((kColdestLog + kSteepness * density + kHeating * rising * fast) / 8 - 1.5);
}

}  // namespace ranklab::data
