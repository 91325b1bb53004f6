// The formulae of a synthetic cosmology volume: the power spectrum of its matter, and the smooth
// map from the (slightly smoothed) N-body fields to the Hydro channels, in the normalised units of
// the published workload: ln(rho)/14, v/9e7 cm/s, ln(T)/8 - 1.5.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace ranklab::data {

/// n of the power spectrum's k^n.
inline constexpr double kSpectralIndex = 0.96;

/// The power spectrum of cold dark matter for k > 0 in radians per cell, up to a factor: P(k) = k^n
/// T(q)^2 exp(-(k cutoff)^2) with q = k / 0.21 for cells of 0.1 Mpc/h and T of Bardeen, Bond,
/// Kaiser and Szalay (1986):
///   T = ln(1 + 2.34 q) / (2.34 q) (1 + 3.89 q + (16.1 q)^2 + (5.46 q)^3 + (6.71 q)^4)^(-1/4)
/// `cutoff`: the length, in cells, below which structure fades.
double power(double cutoff, double k);

/// The number of waves in a cube of `edge` cells with n^2 = n0^2 + n1^2 + n2^2, by n^2: n0, n1, n2
/// are the cycles along each axis, in (-edge/2, edge/2].
std::vector<std::int64_t> modes_by_square(std::int64_t edge);

/// sqrt(P) by n^2; 0 at n^2 = 0, so that the field's mean is 0. White noise of variance 1, filtered
/// by it, has variance 1.
std::vector<double> amplitudes(double cutoff, std::int64_t edge,
                               const std::vector<std::int64_t>& modes);

/// The root mean square of one component of the velocity u_k = i k / k^2 delta_k, with delta of
/// these amplitudes.
double velocity_spread(const std::vector<double>& amplitudes, std::int64_t edge,
                       const std::vector<std::int64_t>& modes);

struct MatterScales {
    double sigma = 2;            ///< spread of ln(rho)
    double speed = 0.3;          ///< spread of a velocity component, in 9e7 cm/s
    double gas_smoothing = 1.5;  ///< cells: gas follows matter smoothed by a Gaussian of this width
};

/// Nbody channel 0, a lognormal density, where the Gaussian field (variance 1) has the value g.
double dark_matter(const MatterScales& scales, double g);
/// Hydro channel 0, of the smoothed field.
double gas_density(const MatterScales& scales, double g);
/// Hydro channels 1 to 3, of a component (in 9e7 cm/s) of the smoothed velocity.
double gas_velocity(double component);
/// Hydro channel 4: T = 1e4 K (rho/mean)^0.6, and up to exp(4) times hotter where the gas is dense
/// and fast (a shock); `speed_squared` is the sum over the smoothed components.
double gas_temperature(const MatterScales& scales, double g, double speed_squared);

}  // namespace ranklab::data
