// What gas does where matter is: the smooth map from the (slightly smoothed) N-body fields to the Hydro
// channels, all in the normalised units of the published workload: ln(rho)/14, v/9e7 cm/s, ln(T)/8 - 1.5.
#pragma once

namespace ranklab::data {

struct MatterScales {
    double sigma = 2;            ///< spread of ln(rho)
    double speed = 0.3;          ///< spread of a velocity component, in 9e7 cm/s
    double gas_smoothing = 1.5;  ///< cells: gas follows matter smoothed by a Gaussian of this width
};

/// ln of the density over its mean where the Gaussian field (variance 1) has the value g: a lognormal field.
double log_density(const MatterScales& scales, double g);
/// Nbody channel 0.
double dark_matter(const MatterScales& scales, double g);
/// Hydro channel 0, of the smoothed field.
double gas_density(const MatterScales& scales, double g);
/// Hydro channels 1 to 3, of a component (in 9e7 cm/s) of the smoothed velocity.
double gas_velocity(double component);
/// Hydro channel 4: T = 1e4 K (rho/mean)^0.6, and up to exp(4) times hotter where the gas is dense and fast
/// (a shock); `speed_squared` is the sum over the smoothed components.
double gas_temperature(const MatterScales& scales, double g, double speed_squared);

}  // namespace ranklab::data
