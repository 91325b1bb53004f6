// A straight line through costs over sizes: what each call costs, and what each unit of size.
#pragma once

#include <span>

#include "stats/summary.hpp"

namespace ranklab::stats {

struct LinePoint {
    double x = 0, y = 0;  ///< y > 0
};

/// y = alpha + beta x by least squares of the relative distances, (alpha + beta x) / y - 1: a
/// microsecond counts as much beside a small message as a millisecond beside a large one. The
/// intervals are Student's, of the points' distances from the line: they contain what is not
/// straight in the points, and are NaN below 3 points. Neither coefficient is below 0: the other
/// one is then fitted alone.
struct LineFit {
    double alpha = kNone, beta = kNone;
    Interval alpha_ci, beta_ci;  ///< 95 %
    double worst = kNone;        ///< largest relative distance of a point
    std::size_t n = 0;
};
/// NaN where there are not two different x.
LineFit fit_line(std::span<const LinePoint> points);

}  // namespace ranklab::stats
