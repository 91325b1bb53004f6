// How much structure there is at which length: the power spectrum of a random field.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ranklab::data {

struct SpectrumSpec {
    std::string name = "cdm-like";  ///< or "power-law"
    double index = 0.96;            ///< n of k^n
    double cutoff = 2;              ///< cells: below this length structure fades, P times exp(-(k cutoff)^2)
};

/// The index that `name` has where none is given.
double usual_index(const std::string& name);

/// P(k) for k in radians a cell, k > 0; up to a factor.
///   power-law  k^n
///   cdm-like   k^n T(q)^2, T that of Bardeen, Bond, Kaiser and Szalay (1986), q = k / 0.21 for cells of 0.1
///              Mpc/h: T = ln(1 + 2.34 q) / (2.34 q) (1 + 3.89 q + (16.1 q)^2 + (5.46 q)^3 + (6.71
///              q)^4)^(-1/4)
double power(const SpectrumSpec& spec, double k);

/// sqrt(P) by n^2 = n0^2 + n1^2 + n2^2 of the cycles a cube of `edge` cells holds along each axis, for n^2 up
/// to 3 (edge / 2)^2; 0 at n^2 = 0, so that the field's mean is 0.
///
/// `modes[n^2]` is how many waves there are: the table is scaled so that white noise of variance 1, filtered
/// by it, has variance 1. A sum in the order of n^2, so it has the same bits however the waves are spread.
std::vector<double> amplitudes(const SpectrumSpec& spec, std::int64_t edge,
                               const std::vector<std::int64_t>& modes);

/// The root mean square of one component of the velocity u_k = i k / k^2 delta_k, with delta of these
/// amplitudes.
double velocity_spread(const std::vector<double>& amplitudes, std::int64_t edge,
                       const std::vector<std::int64_t>& modes);

}  // namespace ranklab::data
