#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/correlation.hpp"
#include "stats/distributions.hpp"
#include "stats/interval.hpp"

namespace ranklab::stats {
namespace {

constexpr std::size_t kReference = 4096;  // samples that give the ranks of a longer series
constexpr std::size_t kMostLags = 60;
constexpr std::size_t kQuietLags = 5;  // so many small autocorrelations in a row are the end of it
constexpr double kLongEnough = 1000;
constexpr double kStrong = 0.5;

// Normal scores of mid-ranks: autocorrelations of these do not change with the shape of the distribution, and
// one far-out sample cannot hide the correlation of the others.
std::vector<double> normal_scores(std::span<const double> x) {
    const std::size_t step = (x.size() + kReference - 1) / kReference;
    std::vector<double> reference;
    for (std::size_t i = 0; i < x.size(); i += step) reference.push_back(x[i]);
    std::sort(reference.begin(), reference.end());
    const std::size_t m = reference.size();
    std::vector<double> score(2 * m + 1);
    for (std::size_t i = 0; i <= 2 * m; ++i)
        score[i] = normal_quantile((static_cast<double>(i) + 1) / (2.0 * static_cast<double>(m) + 2));
    std::vector<double> z(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto low = std::lower_bound(reference.begin(), reference.end(), x[i]);
        auto high = low;
        while (high != reference.end() && *high == x[i]) ++high;
        z[i] = score[static_cast<std::size_t>((low - reference.begin()) + (high - reference.begin()))];
    }
    return z;
}

std::vector<double> signs(std::span<const double> x, double median) {
    std::vector<double> s(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) s[i] = x[i] > median ? 1 : x[i] < median ? -1 : 0;
    return s;
}

// Of lags 0 .. most, over the variance.
std::vector<double> autocorrelation(std::vector<double> z, std::size_t most) {
    double mean = 0;
    for (const double value : z) mean += value;
    mean /= static_cast<double>(z.size());
    for (double& value : z) value -= mean;
    std::vector<double> r(most + 1);
    for (std::size_t lag = 0; lag <= most; ++lag) {
        double sum = 0;
        for (std::size_t i = lag; i < z.size(); ++i) sum += z[i] * z[i - lag];
        r[lag] = sum;
    }
    for (std::size_t lag = most + 1; lag-- > 0;) r[lag] = r[0] > 0 ? r[lag] / r[0] : 0;
    return r;
}

// Independent samples have r(k) of 0 +- 1/sqrt(n), a little below 0. The first lag has one chance in fifty to
// look positive by accident, the others together one in a hundred.
bool visible(const std::vector<double>& r, double n) {
    const double noise = 1 / std::sqrt(n);
    for (std::size_t lag = 1; lag < r.size() && lag <= kQuietLags; ++lag)
        if (r[lag] + 1 / n > (lag == 1 ? 2.05 : 3) * noise) return true;
    return false;
}

// Politis's adaptive bandwidth (Adaptive bandwidth choice, J. Nonparametric Statistics 15, 2003): twice the
// lag after which kQuietLags autocorrelations in a row are not to be told from 0.
std::size_t bandwidth(const std::vector<double>& r, double n) {
    const double noise = 2 * std::sqrt(std::log10(n) / n);
    std::size_t last = 0;
    for (std::size_t lag = 1; lag < r.size() && lag <= last + kQuietLags; ++lag)
        if (std::abs(r[lag]) >= noise) last = lag;
    return std::min(2 * std::max<std::size_t>(last, 1), r.size() - 1);
}

}  // namespace

Correlation correlation(std::span<const double> samples, double median) {
    const double n = static_cast<double>(samples.size());
    const std::size_t lags = std::min(kMostLags, std::max<std::size_t>(1, samples.size() / 4));
    const auto r = autocorrelation(normal_scores(samples), lags);
    Correlation found{.lag1 = r[1], .visible = visible(r, n), .inflation = 1, .block_length = 1};
    if (!found.visible) return found;
    const std::size_t most = bandwidth(r, n);
    const auto s = autocorrelation(signs(samples, median), most);
    double sum = 0;
    double moment = 0;
    for (std::size_t lag = 1; lag <= most; ++lag) {
        // The flat-top window: no bias from the lags that matter.
        const double t = static_cast<double>(lag) / static_cast<double>(most);
        const double weight = t <= 0.5 ? 1 : 2 * (1 - t);
        sum += weight * s[lag];
        moment += weight * s[lag] * static_cast<double>(lag);
    }
    found.inflation = std::clamp(1 + 2 * sum, 1.0, n);
    // Politis & White 2004, as corrected by Patton, Politis & White 2009 (Econometric Reviews 28).
    const double ratio = 2 * std::max(moment, 0.0) / found.inflation;
    found.block_length = std::max(1.0, std::cbrt(1.5 * ratio * ratio * n));
    return found;
}

namespace {

std::string sentence(const Correlation& found, double n, double effective) {
    if (!found.visible) return "";
    const auto says = fmt::format(
        "the samples are correlated (lag-1 {:.2f}): {:.0f} of them say as much as "
        "{:.0f} independent ones",
        found.lag1, n, effective);
    if (found.lag1 > kStrong)
        return says +
               ", too strongly for a trustworthy interval of the median: repeat the run and compare runs";
    if (n < kLongEnough)
        return says +
               fmt::format(", too few for a trustworthy interval of the median: measure {:.0f} or more",
                           kLongEnough);
    return "";
}

}  // namespace

Dependence dependence(std::span<const double> samples) {
    Dependence result;
    if (std::any_of(samples.begin(), samples.end(), [](double x) { return std::isnan(x); })) return result;
    const double n = static_cast<double>(samples.size());
    result.effective_n = n;
    const auto differs = [&](double x) { return x != samples.front(); };
    if (samples.size() < 3 || std::none_of(samples.begin(), samples.end(), differs)) return result;
    const Correlation found = correlation(samples, quantile(samples, 0.5));
    result.lag1 = found.lag1;
    result.effective_n = std::max(1.0, n / found.inflation);
    if (found.visible) result.block_length = found.block_length;
    result.warning = sentence(found, n, result.effective_n);
    return result;
}

}  // namespace ranklab::stats
