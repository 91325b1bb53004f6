#include "stats/difference.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/numbers.hpp"
#include "stats/distributions.hpp"

namespace ranklab::stats {
namespace {

constexpr double kLevel = 0.05;
constexpr double kPower = 0.8;

// Squares of what the samples of a side are off their mean, relative to it.
struct Spread {
    double squares = 0;
    double degrees = 0;
    void add(std::span<const double> samples) {
        if (samples.size() < 3) return;
        const double n = base::real(samples.size());
        const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / n;
        for (const double x : samples) squares += (x / mean - 1) * (x / mean - 1);
        degrees += n - 1;
    }
};

}  // namespace

std::vector<double> holm(std::span<const double> p) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < p.size(); ++i)
        if (!std::isnan(p[i])) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
    std::vector<double> corrected(p.begin(), p.end());
    double least = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        least = std::max(least, std::min(1.0, p[order[i]] * base::real(order.size() - i)));
        corrected[order[i]] = least;
    }
    return corrected;
}

Difference difference(std::span<const double> a, std::span<const double> b) {
    return {a.size(), b.size(), estimate_ratio(b, a, 1 - kLevel, kFewestRuns), mann_whitney(a, b)};
}

Verdict judge(const Difference& difference, double corrected_p, double smallest, Better better) {
    if (std::min(difference.n_a, difference.n_b) < kFewestRuns) return Verdict::too_few_runs;
    const auto& [ratio, ci] = difference.ratio;
    if (std::isnan(ci.low) || std::isnan(ci.high)) return Verdict::too_noisy;
    constexpr double kRounding = 1e-9;  // 1.05 times a time is 5 % more, whatever its last bits say
    const bool more = ci.low > 1 && ratio >= 1 + smallest - kRounding;
    const bool less = ci.high < 1 && ratio <= 1 - smallest + kRounding;
    if (corrected_p < kLevel && (more || less))
        return less == (better == Better::lower) ? Verdict::better : Verdict::worse;
    const bool within = ci.low >= 1 - smallest && ci.high <= 1 + smallest;
    return within ? Verdict::same : Verdict::too_noisy;
}

std::size_t runs_needed(std::span<const double> a, std::span<const double> b, double smallest,
                        std::size_t compared) {
    Spread spread;
    spread.add(a);
    spread.add(b);
    if (spread.degrees == 0 || !(smallest > 0) || !std::isfinite(spread.squares)) return 0;
    // The spread that few runs show is too small as often as too large: its upper 80 % bound is taken
    // (Browne, Statistics in Medicine 14, 1995).
    const double variance = spread.squares / chi_square_quantile(1 - kPower, spread.degrees);
    const double beta = normal_quantile(kPower);
    const double tests = base::real(std::max<std::size_t>(1, compared));
    // Both have to tell: the interval of the ratio of medians (whose variance is pi/2 that of means of normal
    // samples) and the corrected rank test (3/pi as efficient as the t test).
    const double interval = std::numbers::pi / 2 * std::pow(normal_quantile(1 - kLevel / 2) + beta, 2);
    const double test = std::numbers::pi / 3 * std::pow(normal_quantile(1 - kLevel / 2 / tests) + beta, 2);
    const double runs = 2 * std::max(interval, test) * variance / (smallest * smallest);
    return std::max(kFewestRuns, static_cast<std::size_t>(std::min(1e9, std::ceil(runs))));
}

}  // namespace ranklab::stats
