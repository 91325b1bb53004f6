#include "stats/difference.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/numbers.hpp"
#include "stats/distributions.hpp"
#include "stats/repeats.hpp"

namespace ranklab::stats {
namespace {

constexpr double kLevel = 0.05;
constexpr double kPower = 0.8;
constexpr std::size_t kMostExact = 50;  // most samples of both sides together in an exact test

// Both sides in one sorted list. Mid-ranks are doubled, which makes them whole numbers.
struct Pooled {
    std::size_t n_a = 0, n_b = 0;
    std::vector<double> values;
    std::vector<long> rank2;  ///< twice the mid-rank
    long sum2_b = 0;          ///< twice the rank sum of side b
    double ties = 0;          ///< sum of t^3 - t over groups of t equal values
    std::size_t n() const { return n_a + n_b; }
    long expected2() const { return static_cast<long>(n_b * (n() + 1)); }
};

Pooled pool(const std::vector<double>& a, const std::vector<double>& b) {
    Pooled all{.n_a = a.size(), .n_b = b.size(), .values = {}, .rank2 = {}};
    all.values.resize(all.n());
    std::merge(a.begin(), a.end(), b.begin(), b.end(), all.values.begin());
    std::size_t next_b = 0;
    for (std::size_t first = 0; first < all.n();) {
        std::size_t end = first;
        while (end < all.n() && all.values[end] == all.values[first]) ++end;
        const long rank2 = static_cast<long>(first + 1 + end);
        const double t = base::real(end - first);
        all.ties += t * t * t - t;
        for (; next_b < b.size() && b[next_b] == all.values[first]; ++next_b) all.sum2_b += rank2;
        all.rank2.insert(all.rank2.end(), end - first, rank2);
        first = end;
    }
    return all;
}

// Returns at index d how many splits of the pooled ranks into n_a and n_b have 2 |W - E(W)| = d; W:
// rank sum of side b. Dynamic programming over the ranks makes this exact with ties, too.
std::vector<double> splits_by_distance(const Pooled& all) {
    // The largest sum of n_b ranks.
    const long most = std::accumulate(all.rank2.end() - all.n_b, all.rank2.end(), 0L);
    const std::size_t width = most + 1;
    std::vector<std::vector<double>> count(all.n_b + 1);
    count[0].assign(width, 0);
    count[0][0] = 1;
    std::size_t reach = 0;
    for (std::size_t i = 0; i < all.n(); ++i) {
        const std::size_t rank2 = all.rank2[i];
        for (std::size_t size = std::min(i + 1, all.n_b); size > 0; --size) {
            if (count[size].empty()) count[size].assign(width, 0);
            const std::size_t last = std::min(reach, width - 1 - std::min(rank2, width - 1));
            for (std::size_t sum = 0; sum <= last; ++sum)
                count[size][sum + rank2] += count[size - 1][sum];
        }
        reach += rank2;
    }
    std::vector<double> by_distance(width, 0);
    for (std::size_t sum = 0; sum < width; ++sum)
        by_distance[std::abs(static_cast<long>(sum) - all.expected2())] += count[all.n_b][sum];
    return by_distance;
}

double exact_p(const Pooled& all) {
    const auto by_distance = splits_by_distance(all);
    const auto seen = by_distance.begin() + std::abs(all.sum2_b - all.expected2());
    return std::accumulate(seen, by_distance.end(), 0.0) /
           std::accumulate(by_distance.begin(), by_distance.end(), 0.0);
}

double approximate_p(const Pooled& all) {
    const double n = base::real(all.n());
    const double product = base::real(all.n_a) * base::real(all.n_b);
    const double variance = product / 12 * (n + 1 - all.ties / (n * (n - 1)));
    if (!(variance > 0)) return 1;
    const double distance = base::real(std::abs(all.sum2_b - all.expected2())) / 2;
    return std::min(1.0, 2 * normal_cdf(-std::max(0.0, distance - 0.5) / std::sqrt(variance)));
}

std::vector<double> reciprocals(std::span<const double> values) {
    std::vector<double> all(values.begin(), values.end());
    for (double& value : all) value = 1 / value;
    return all;
}

}  // namespace

RankTest mann_whitney(std::span<const double> a, std::span<const double> b) {
    const auto x = sorted(a);
    const auto y = sorted(b);
    if (!x || !y || x->empty() || y->empty()) return {};
    const Pooled all = pool(*x, *y);
    if (all.values.front() == all.values.back()) return {.p = 1, .effect = 0};
    const double product = base::real(all.n_a) * base::real(all.n_b);
    RankTest test;
    test.effect = base::real(all.sum2_b - all.expected2()) / product;
    test.p = all.n() <= kMostExact ? exact_p(all) : approximate_p(all);
    return test;
}

std::vector<double> holm(std::span<const double> p) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < p.size(); ++i)
        if (!std::isnan(p[i])) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
    std::vector<double> corrected(p.begin(), p.end());
    double least = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        least = std::max(least, std::min(1.0, p[order[i]] * base::real(order.size() - i)));
        corrected[order[i]] = least;
    }
    return corrected;
}

Difference difference(std::span<const double> a, std::span<const double> b, bool rates) {
    if (!rates) return {a.size(), b.size(), run_ratio(b, a), mann_whitney(a, b)};
    const auto costs_a = reciprocals(a), costs_b = reciprocals(b);
    return {a.size(), b.size(), run_ratio(costs_a, costs_b), mann_whitney(costs_b, costs_a)};
}

Summary summarise_runs(std::span<const double> values, bool rates) {
    return rates ? summarise_rate(std::vector<double>(values.size(), 1), reciprocals(values))
                 : summarise(values);
}

Verdict judge(const Difference& difference, double corrected_p, double min_effect, Better better) {
    if (std::min(difference.n_a, difference.n_b) < kFewestRuns) return Verdict::too_few_runs;
    const auto& [ratio, ci] = difference.ratio;
    if (std::isnan(ci.low) || std::isnan(ci.high)) return Verdict::too_noisy;
    constexpr double kRounding = 1e-9;  // a ratio of 1.05 counts as 5 % whatever its last bits
    const bool more = ci.low > 1 && ratio >= 1 + min_effect - kRounding;
    const bool less = ci.high < 1 && ratio <= 1 - min_effect + kRounding;
    if (corrected_p < kLevel && (more || less))
        return better == Better::neither          ? Verdict::changed
               : less == (better == Better::less) ? Verdict::better
                                                  : Verdict::worse;
    const bool within = ci.low >= 1 - min_effect && ci.high <= 1 + min_effect;
    return within ? Verdict::same : Verdict::too_noisy;
}

// The rank test's smallest p is 2 / the number of ways to split the runs into two sides.
std::size_t fewest_runs(std::size_t compared) {
    double splits = 1;
    for (std::size_t n = 1;; ++n) {
        splits *= 2 * base::real(2 * n - 1) / base::real(n);  // (2n)! / n!^2
        if (n >= kFewestRuns && 2 * base::real(compared) < kLevel * splits) return n;
    }
}

std::size_t runs_needed(std::span<const double> a, std::span<const double> b, double min_effect,
                        std::size_t compared) {
    const Repeats sides[] = {{a.begin(), a.end()}, {b.begin(), b.end()}};
    const auto [pooled, degrees] = scatter_of(sides);
    if (std::max(a.size(), b.size()) < 3 || !(min_effect > 0) || !std::isfinite(pooled)) return 0;
    // Few runs underestimate the spread as often as they overestimate it: the upper 80 % bound is
    // safe (Browne, Statistics in Medicine 14, 1995).
    const double variance = pooled * degrees / chi_square_quantile(1 - kPower, degrees);
    const double beta = normal_quantile(kPower);
    const double tests = base::real(std::max<std::size_t>(1, compared));
    // The corrected rank test is 3/pi as efficient as the t test of judge()'s interval.
    const double test =
        std::numbers::pi / 3 * std::pow(normal_quantile(1 - kLevel / 2 / tests) + beta, 2);
    const double runs = 2 * test * variance / (min_effect * min_effect);
    return std::max(fewest_runs(compared),
                    static_cast<std::size_t>(std::min(1e9, std::ceil(runs))));
}

}  // namespace ranklab::stats
