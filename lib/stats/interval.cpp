#include "stats/interval.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/block_bootstrap.hpp"
#include "stats/correlation.hpp"
#include "stats/distributions.hpp"
#include "stats/order.hpp"

namespace ranklab::stats {
namespace {

// Order statistics without sorting everything: the ranks that an interval asks for are few.
class Selection {
  public:
    explicit Selection(std::span<const double> samples) : x_(samples.begin(), samples.end()) {}
    double operator()(std::size_t rank) {
        const auto at = x_.begin() + static_cast<std::ptrdiff_t>(rank - 1);
        std::nth_element(x_.begin(), at, x_.end());
        return *at;
    }
    std::size_t size() const { return x_.size(); }

  private:
    std::vector<double> x_;
};

bool has_nan(std::span<const double> samples) {
    return std::any_of(samples.begin(), samples.end(), [](double x) { return std::isnan(x); });
}

}  // namespace

Interval quantile_interval(std::span<const double> samples, double q, double level) {
    const auto x = sorted(samples);
    if (!x || !(q > 0 && q < 1)) return {};
    const std::size_t n = x->size();
    const std::size_t l = binomial_rank(n, q, (1 - level) / 2).k;
    // P(Bin(n, q) >= u) <= tail is P(Bin(n, 1 - q) < n + 1 - u) <= tail.
    const std::size_t from_above = binomial_rank(n, 1 - q, (1 - level) / 2).k;
    if (l < 1 || from_above < 1 || l + from_above > n) return {};
    return {(*x)[l - 1], (*x)[n - from_above]};
}

MedianEstimate estimate_median(std::span<const double> samples, double level) {
    MedianEstimate estimate;
    estimate.dependence = dependence(samples);
    if (samples.empty() || has_nan(samples)) return estimate;
    Selection x(samples);
    const auto at = [&](std::size_t rank) { return x(rank); };
    estimate.value = quantile_at(x.size(), 0.5, at);
    if (estimate.dependence.block_length > 0) {
        estimate.ci = block_bootstrap_median(samples, estimate.dependence.block_length, level);
        estimate.method = "block bootstrap";
    } else {
        estimate.ci = median_interval_at(x.size(), level, at);
        estimate.method = "order statistics";
    }
    if (std::isnan(estimate.ci.low)) estimate.method = "";
    return estimate;
}

double relative_half_width(const MedianEstimate& estimate) {
    const double half = std::max(estimate.value - estimate.ci.low, estimate.ci.high - estimate.value);
    return estimate.value != 0 && !std::isnan(estimate.ci.low) ? half / std::abs(estimate.value) : kNone;
}

}  // namespace ranklab::stats
