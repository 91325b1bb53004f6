#include "stats/interval.hpp"

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "stats/distributions.hpp"

namespace ranklab::stats {
namespace {

// Sums of the normal equations, each point weighted by 1 / y^2.
struct Sums {
    long double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;

    long double determinant() const { return w * wxx - wx * wx; }
};

Sums sums_of(std::span<const LinePoint> points) {
    Sums s;
    for (const auto& [x, y] : points) {
        const long double weight = 1.0L / (static_cast<long double>(y) * y);
        s.w += weight;
        s.wx += weight * x;
        s.wxx += weight * x * x;
        s.wy += weight * y;
        s.wxy += weight * x * y;
    }
    return s;
}

double distance(const LineFit& fit, const LinePoint& point) {
    return (fit.alpha + fit.beta * point.x) / point.y - 1;
}

Interval around(double value, double half) {
    return {std::max(0.0, value - half), value + half};
}

void add_intervals(LineFit& fit, std::span<const LinePoint> points, const Sums& s) {
    long double squares = 0;
    for (const auto& point : points) {
        const double off = distance(fit, point);
        squares += static_cast<long double>(off) * off;
        fit.worst = std::isnan(fit.worst) ? std::abs(off) : std::max(fit.worst, std::abs(off));
    }
    if (points.size() < 3) return;
    const double degrees = base::real(points.size() - 2);
    const double t = student_quantile(0.975, degrees);
    const long double variance = squares / degrees;
    fit.alpha_ci =
        around(fit.alpha, t * static_cast<double>(std::sqrt(variance * s.wxx / s.determinant())));
    fit.beta_ci =
        around(fit.beta, t * static_cast<double>(std::sqrt(variance * s.w / s.determinant())));
}

}  // namespace

LineFit fit_line(std::span<const LinePoint> points) {
    LineFit fit;
    fit.n = points.size();
    const Sums s = sums_of(points);
    if (points.size() < 2 || !(s.determinant() > 1e-12L * s.w * s.wxx)) return fit;
    fit.alpha = static_cast<double>((s.wxx * s.wy - s.wx * s.wxy) / s.determinant());
    fit.beta = static_cast<double>((s.w * s.wxy - s.wx * s.wy) / s.determinant());
    if (fit.alpha < 0) {
        fit.alpha = 0;
        fit.beta = static_cast<double>(s.wxy / s.wxx);
    } else if (fit.beta < 0) {
        fit.beta = 0;
        fit.alpha = static_cast<double>(s.wy / s.w);
    }
    add_intervals(fit, points, s);
    return fit;
}

}  // namespace ranklab::stats
