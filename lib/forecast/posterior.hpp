// Private to lib/forecast: the Bayesian fit of a curve to measured points.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "forecast/curve.hpp"
#include "stats/distributions.hpp"

namespace ranklab::forecast {

/// The logarithm of a time.
struct Mixture {
    std::vector<stats::NormalPart> parts = {};
    std::array<double, kDoubts> variance = {};  ///< that each Doubt contributes

    double quantile(double share) const;  ///< of the time
    Estimate estimate() const;
};

struct Posterior {
    std::vector<Mixture> at = {};  ///< of the mean of n launches at each target (n: per point)
    Prior probability = {};
    double misfit = 0;  ///< mean variance of the points' logarithms about a curve
};

/// Ranks that one node holds, as the curve or its points say; 0: not known.
double per_node_of(const ScalingCurve& curve);

/// Fits times to the points (at least two) as docs/predict.md says. `targets` are not below the
/// first point. With q = ranks / ranks of the first point, the logarithm of a time is
///   log(ideal (1 + c (q^k - 1) / k)) + a (log2 nodes)^(1/4) + discrepancy(log2 q) + noise
/// Integrated out are the level, and on grids c, k, a and the discrepancy's size.
Posterior fit(const ScalingCurve& curve, const Prior& prior, std::span<const double> targets);

}  // namespace ranklab::forecast
