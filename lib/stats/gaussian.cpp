#include "stats/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stats/summary.hpp"

namespace ranklab::stats {

// Gauss-Jordan elimination in place; the pivots' product is the determinant.
GaussianValues::GaussianValues(std::vector<double> covariance, std::size_t n)
    : inverse_(std::move(covariance)), n_(n) {
    for (std::size_t k = 0; k < n; ++k) {
        double* const row = &inverse_[k * n];
        const double pivot = row[k];
        log_norm_ -= std::log(pivot) / 2;
        row[k] = 1;
        for (std::size_t j = 0; j < n; ++j) row[j] /= pivot;
        for (std::size_t i = 0; i < n; ++i) {
            if (i == k) continue;
            const double factor = inverse_[i * n + k];
            inverse_[i * n + k] = 0;
            for (std::size_t j = 0; j < n; ++j) inverse_[i * n + j] -= factor * row[j];
        }
    }
}

double GaussianValues::chi_square(std::span<const double> values) const {
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i) {
        double off = 0;
        for (std::size_t j = 0; j < i; ++j) off += inverse_[i * n_ + j] * values[j];
        sum += values[i] * (2 * off + inverse_[i * n_ + i] * values[i]);
    }
    return sum;
}

std::vector<double> GaussianValues::weights(std::span<const double> covariances) const {
    std::vector<double> found(n_);
    for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t j = 0; j < n_; ++j) found[i] += inverse_[i * n_ + j] * covariances[j];
    return found;
}

double mixture_quantile(std::span<const NormalPart> parts, double p) {
    constexpr double kTail = 10;  // standard deviations to search beyond the outermost parts
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (const auto& part : parts) {
        low = std::min(low, part.mean - kTail * part.deviation);
        high = std::max(high, part.mean + kTail * part.deviation);
    }
    if (parts.empty()) return kNone;
    // Newton's method, or a halving if it leaves the bracket.
    const double close = 1e-14 * (high - low);
    double at = (low + high) / 2, step = high - low;
    for (int i = 0; i < 100 && std::abs(step) > close; ++i) {
        double below = -p, density = 0;
        for (const auto& [weight, mean, deviation] : parts) {
            const double z = (at - mean) / deviation;
            below += weight * normal_cdf(z);
            density += weight * std::exp(-z * z / 2) / deviation;
        }
        (below < 0 ? low : high) = at;
        step = -below / density * std::sqrt(2 * std::numbers::pi);
        if (!(at + step > low && at + step < high)) step = (low + high) / 2 - at;
        at += step;
    }
    return at;
}

}  // namespace ranklab::stats
