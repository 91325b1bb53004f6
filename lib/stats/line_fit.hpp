// A straight line through costs over sizes: what each call costs, and what each unit of size.
#pragma once

#include <span>

#include "stats/summary.hpp"

namespace ranklab::stats {

struct LinePoint {
    double x = 0, y = 0;  ///< y > 0
};

/// Fits y = alpha + beta x by least squares of the relative distances, (alpha + beta x) / y - 1: a
/// microsecond of a small message counts as much as a millisecond of a large one. The intervals are
/// Student's, from the points' distances to the line: they include curvature, and are NaN below 3
/// points. Where a coefficient would be below 0 it is 0, and the other one is fitted alone.
struct LineFit {
    double alpha = kNone, beta = kNone;
    Interval alpha_ci, beta_ci;  ///< 95 %
    double worst = kNone;        ///< largest relative distance of a point
    std::size_t n = 0;
};
/// NaN where there are not two different x.
LineFit fit_line(std::span<const LinePoint> points);

}  // namespace ranklab::stats
