// Simulated step times from fixed seeds.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace ranklab::stats {

/// Gives the same numbers with every library: the C++ standard fixes the engine's bits, but not the
/// distributions.
class Random {
  public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}

    /// (0, 1), 53 bits
    double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }
    /// 0 .. n - 1
    std::size_t index(std::size_t n) {
        return static_cast<std::size_t>(uniform() * static_cast<double>(n));
    }
    /// Marsaglia's polar method
    double normal() {
        if (has_spare_) {
            has_spare_ = false;
            return spare_;
        }
        double x = 0, y = 0, square = 0;
        do {
            x = 2 * uniform() - 1;
            y = 2 * uniform() - 1;
            square = x * x + y * y;
        } while (square >= 1 || square == 0);
        const double scale = std::sqrt(-2 * std::log(square) / square);
        spare_ = y * scale;
        has_spare_ = true;
        return x * scale;
    }

  private:
    std::mt19937_64 engine_;
    double spare_ = 0;
    bool has_spare_ = false;
};

namespace simulated {

// The second suite compiles these tests with RANKLAB_MANY_SIMULATIONS. The fast suite makes fewer
// simulations and allows more for chance.
#ifdef RANKLAB_MANY_SIMULATIONS
inline constexpr bool kFew = false;
#else
inline constexpr bool kFew = true;
#endif
inline constexpr std::size_t kSimulations = kFew ? 250 : 2000;
/// Percentage points. Few simulations: three standard errors of a share; many: no allowance.
inline constexpr double kAllowance = kFew ? 4.5 : 0;

/// exp(spread z) with normal z of lag-1 correlation `phi`: median 1, relative deviation `spread`.
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

}  // namespace simulated
}  // namespace ranklab::stats
