// Private to lib/forecast: the fit of all models to measured points.
//
// With q = ranks / ranks of the first point and x = log2 q, the logarithm of a time is
//   level + log(ideal x factor of a model) + discrepancy(x) + crossing(nodes) + noise
//   ideal        1/q (strong), 1 (weak)
//   factor       by model: 1; 1 + terms, each with a coefficient above 0: c (1 - 1/q), the work of
//                one rank (G. Amdahl 1967; weak: J. Gustafson 1988), c from the second point on, or
//                c times log q, sqrt q, q (N. Gunther's USL), q log q; (q / b)^k from a bend b on
//   discrepancy  what no model has: a Brownian motion of level and slope in x, a Gaussian process
//                (M. Kennedy, A. O'Hagan, "Bayesian calibration of computer models", JRSS B 63,
//                2001), so that it grows with the distance from the points
//   crossing     nothing on one node; on 2, a factor that grows with the doublings of the nodes,
//                plus a Brownian motion of these
//   noise        independent, its variance known from repeats
// A Gaussian process has closed forms; all else is summed over grids: coefficients, the noise, the
// sizes of discrepancy and crossing, and how many ranks a node holds.
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

/// The logarithm of a time: of the mean of n launches (n: the average per point).
struct Mixture {
    std::vector<stats::NormalPart> parts = {};
    std::array<double, kDoubts> variance = {};  ///< one per Doubt; they add up to the mixture's

    double quantile(double share) const;  ///< of the time
    /// Between two quantiles of the time.
    stats::Interval interval(double low, double high) const;
};

struct Posterior {
    std::vector<Mixture> at = {};                     ///< by target
    std::map<std::string_view, double> weights = {};  ///< of the models
    Likelihood probability = {};                      ///< of model, discrepancy, crossing
};

/// The points ascend in ranks (at least two); `targets` are not below the first point.
Posterior fit(std::span<const CurvePoint> points, Scaling scaling, const Prior& prior,
              std::span<const Capacity> capacities, std::span<const double> targets);

}  // namespace ranklab::forecast
