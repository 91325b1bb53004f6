// A straight line through costs over sizes: the cost of a call, plus a cost per unit of size.
#pragma once

#include <span>

#include "stats/summary.hpp"

namespace ranklab::stats {

struct LinePoint {
    double x = 0, y = 0;  ///< y > 0
};

struct LineFit {
    double alpha = kNone, beta = kNone;
    Interval alpha_ci, beta_ci;  ///< 95 %, Student's; NaN below 3 points
    double worst = kNone;        ///< largest relative residual
    std::size_t n = 0;           ///< points
};
/// Fits y = alpha + beta x by least squares of the relative residuals (alpha + beta x) / y - 1, so
/// that small and large messages weigh the same. Curvature widens the intervals. A coefficient that
/// would be negative is 0, and the other one is fitted alone. NaN without two different x.
LineFit fit_line(std::span<const LinePoint> points);

}  // namespace ranklab::stats
