// Private to lib/forecast: the Bayesian fit of scaling models to measured points.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "forecast/curve.hpp"
#include "stats/gaussian.hpp"

namespace ranklab::forecast {

/// A hypothesis: one node holds this many ranks. Infinite: all ranks are on one node.
struct Capacity {
    double ranks = 0, probability = 1;
};

/// The logarithm of a time.
struct Mixture {
    std::vector<stats::NormalPart> parts = {};
    std::array<double, kDoubts> variance = {};  ///< one per Doubt; they add up to the mixture's

    double quantile(double share) const;  ///< of the time
    Estimate estimate() const;
};

struct Posterior {
    std::vector<Mixture> at = {};  ///< of the mean of n launches at each target (n: per point)
    std::map<std::string_view, double> weights = {};  ///< of the models
    PairTable probability = {};                       ///< of discrepancies and crossings
    double misfit = 0;  ///< mean variance of the points' logarithms about a curve
};

/// Fits all models to the points, which ascend in ranks (at least two). `targets` are not below the
/// first point. With q = ranks / ranks of the first point, x = log2 q, the logarithm of a time is
///   log(ideal + terms of a model) + discrepancy(x) + crossing (on several nodes) + noise,
/// the discrepancy a Gaussian process (Brownian motion of level and slope), the crossing a factor
/// that grows with the doublings of the nodes, plus a process of these. The level is integrated
/// out, and so are, on grids, coefficients (log-uniform from 5e-4 to 20 times the ideal time at the
/// largest point), the noise (from repeats, with a prior of 2 % worth two of them), and the prior's
/// values.
Posterior fit(std::span<const CurvePoint> points, Scaling scaling, const Prior& prior,
              std::span<const Capacity> capacities, std::span<const double> targets);

}  // namespace ranklab::forecast
