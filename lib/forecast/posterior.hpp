// Private to lib/forecast: the Bayesian fit of a curve to measured points.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "forecast/curve.hpp"
#include "stats/distributions.hpp"

namespace ranklab::forecast {

/// The distribution of the logarithm of a time: a weighted sum of normal distributions.
struct Mixture {
    std::vector<stats::NormalPart> parts = {};
    std::array<double, kDoubts> variance = {};  ///< that each Doubt contributes

    double quantile(double share) const;  ///< of the time
    Estimate estimate() const;
};

struct Posterior {
    std::vector<Mixture> at = {};  ///< one per target: a mean of n launches (n: average of a point)
    Prior probability = {};
    double misfit = 0;  ///< mean variance of the points' logarithms about a curve
};

/// Ranks that one node holds, as the curve or its points say; 0: not known.
double per_node_of(const ScalingCurve& curve);

/// Fits times to the points (at least two) as docs/predict.md says. `targets` are not below the
/// first point. With q = ranks / ranks of the first point, the logarithm of a time is
///   log(ideal (1 + c (q^k - 1) / k)) + a (log2 nodes)^(1/4) + discrepancy(log2 q) + noise
/// The level is integrated out exactly; c, k, a and the discrepancy's size are summed on grids.
Posterior fit(const ScalingCurve& curve, const Prior& prior, std::span<const double> targets);

}  // namespace ranklab::forecast
