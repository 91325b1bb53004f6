#include "data/make/power_spectrum.hpp"

#include <cmath>
#include <numbers>

#include "base/cast.hpp"

namespace ranklab::data {
namespace {

constexpr double kCellMpc = 0.1;  // over h
constexpr double kGamma = 0.21;   // Omega_m h

double transfer(double q) {
    const double p = 1 + 3.89 * q + std::pow(16.1 * q, 2) + std::pow(5.46 * q, 3) + std::pow(6.71 * q, 4);
    return std::log(1 + 2.34 * q) / (2.34 * q) * std::pow(p, -0.25);
}

double radians_a_cell(std::size_t n_squared, std::int64_t edge) {
    return 2 * std::numbers::pi * std::sqrt(base::real(n_squared)) / base::real(edge);
}

double cells(std::int64_t edge) {
    return base::real(edge) * base::real(edge) * base::real(edge);
}

}  // namespace

double usual_index(const std::string& name) {
    return name == "power-law" ? -2 : 0.96;
}

double power(const SpectrumSpec& spec, double k) {
    double p = std::pow(k, spec.index) * std::exp(-std::pow(k * spec.cutoff, 2));
    if (spec.name == "cdm-like") p *= std::pow(transfer(k / kCellMpc / kGamma), 2);
    return p;
}

std::vector<double> amplitudes(const SpectrumSpec& spec, std::int64_t edge,
                               const std::vector<std::int64_t>& modes) {
    std::vector<double> table(modes.size(), 0.0);
    double variance = 0;
    for (std::size_t n = 1; n < modes.size(); ++n) {
        if (modes[n] == 0) continue;
        const double p = power(spec, radians_a_cell(n, edge));
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

}  // namespace ranklab::data
