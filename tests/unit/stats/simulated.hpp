// Samples as a machine makes them, from fixed seeds, for tests by simulation.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "stats/random.hpp"

namespace ranklab::stats::simulated {

// The second suite compiles these tests once more with RANKLAB_MANY_SIMULATIONS; in the first one fewer
// simulations are made, and more is allowed for chance.
#ifdef RANKLAB_MANY_SIMULATIONS
inline constexpr bool kFew = false;
#else
inline constexpr bool kFew = true;
#endif
inline constexpr std::size_t kSimulations = kFew ? 250 : 2000;
inline constexpr double kAllowance = kFew ? 4.5 : 0;  ///< per cent, three standard errors of the difference

/// exp(spread z), z normal, of lag-1 correlation `phi`: median 1, relative spread about `spread`.
inline std::vector<double> lognormal(Random& random, std::size_t n, double spread, double phi = 0) {
    std::vector<double> x(n);
    double z = random.normal();
    for (double& value : x) {
        value = std::exp(spread * z);
        z = phi * z + std::sqrt(1 - phi * phi) * random.normal();
    }
    return x;
}

inline std::vector<double> normal(Random& random, std::size_t n, double mean, double spread) {
    std::vector<double> x(n);
    for (double& value : x) value = mean + spread * random.normal();
    return x;
}

inline std::vector<double> times(std::vector<double> x, double factor) {
    for (double& value : x) value *= factor;
    return x;
}

/// How often `happens(random)` is true, in per cent.
template <class Happens>
double per_cent(std::uint64_t seed, Happens happens, std::size_t simulations = kSimulations) {
    Random random(seed);
    std::size_t count = 0;
    for (std::size_t i = 0; i < simulations; ++i) count += happens(random) ? 1 : 0;
    return 100 * static_cast<double>(count) / static_cast<double>(simulations);
}

}  // namespace ranklab::stats::simulated
