#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/numbers.hpp"
#include "stats/interval.hpp"
#include "stats/order.hpp"
#include "stats/random.hpp"

namespace ranklab::stats {
namespace {

constexpr std::size_t kResamples = 2000;
constexpr std::size_t kFewest = 6;
constexpr std::uint64_t kSeed = 20261123;
// A paired resample is really drawn: of very long series fewer are, which costs the limits some digits that
// such short intervals do not have.
constexpr std::size_t kFewestResamples = 200;
constexpr std::size_t kMostDraws = 20'000'000;

// The median of n draws with replacement from n sorted values, without drawing them: the k-th smallest of n
// uniform numbers has a beta distribution, and picks the value. The cost does not grow with n.
class ResampledMedian {
  public:
    explicit ResampledMedian(const std::vector<double>& x) : x_(x), n_(base::real(x.size())) {}

    double draw(Random& random) const {
        const double k = base::real((x_.size() + 1) / 2);
        const double u = random.beta(k, n_ + 1 - k);
        if (x_.size() % 2 == 1) return value(u);
        // The next of n - k that are uniform on (u, 1): the smallest of them.
        const double next = u + (1 - u) * (1 - std::pow(random.uniform(), 1 / (n_ - k)));
        return between(value(u), value(next), 0.5);
    }

  private:
    double value(double u) const {
        const auto i = static_cast<std::size_t>(u * n_);
        return x_[i < x_.size() ? i : x_.size() - 1];
    }

    const std::vector<double>& x_;
    double n_;
};

// Two equal medians are 1 to each other, 0 to 0 as well: a count of errors that stays 0 has not changed.
double ratio_of(double numerator, double denominator) {
    return numerator == denominator ? 1 : numerator / denominator;
}

}  // namespace

RatioEstimate estimate_ratio(std::span<const double> numerator, std::span<const double> denominator,
                             double level, std::size_t fewest) {
    const auto a = sorted(numerator);
    const auto b = sorted(denominator);
    if (!a || !b || a->empty() || b->empty()) return {};
    RatioEstimate estimate;
    estimate.ratio = ratio_of(quantile_of_sorted(*a, 0.5), quantile_of_sorted(*b, 0.5));
    if (std::min(a->size(), b->size()) < fewest) return estimate;
    Random random(kSeed);
    const ResampledMedian above(*a);
    const ResampledMedian below(*b);
    std::vector<double> ratios(kResamples);
    for (double& ratio : ratios) {
        const double numerator_median = above.draw(random);
        ratio = ratio_of(numerator_median, below.draw(random));
    }
    estimate.ci = {quantile(ratios, (1 - level) / 2), quantile(ratios, (1 + level) / 2)};
    return estimate;
}

RatioEstimate estimate_paired_ratio(std::span<const double> numerator, std::span<const double> denominator,
                                    double level) {
    RatioEstimate estimate;
    estimate.ratio = ratio_of(quantile(numerator, 0.5), quantile(denominator, 0.5));
    const std::size_t n = numerator.size();
    if (n != denominator.size() || n < kFewest || std::isnan(estimate.ratio)) return estimate;
    Random random(kSeed);
    std::vector<double> above(n);
    std::vector<double> below(n);
    std::vector<double> ratios(std::clamp(kMostDraws / n, kFewestResamples, kResamples));
    for (double& ratio : ratios) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t pair = random.index(n);
            above[i] = numerator[pair];
            below[i] = denominator[pair];
        }
        ratio = ratio_of(quantile(above, 0.5), quantile(below, 0.5));
    }
    estimate.ci = {quantile(ratios, (1 - level) / 2), quantile(ratios, (1 + level) / 2)};
    return estimate;
}

}  // namespace ranklab::stats
