#include "stats/block_bootstrap.hpp"

#include <algorithm>
#include <cmath>

#include "base/cast.hpp"
#include "stats/distributions.hpp"

namespace ranklab::stats {
namespace {

double below(double x, double median) {
    return x < median ? 1 : x == median ? 0.5 : 0;
}

// The variance, over all n circular blocks of b samples, of how many of a block's samples lie below the
// median.
double block_variance(std::span<const double> samples, double median, std::size_t b) {
    const std::size_t n = samples.size();
    double mean = 0;
    for (const double x : samples) mean += below(x, median);
    mean *= base::real(b) / base::real(n);
    double inside = 0;
    for (std::size_t i = 0; i < b; ++i) inside += below(samples[i], median);
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
        squares += (inside - mean) * (inside - mean);
        const std::size_t next = i + b < n ? i + b : i + b - n;
        inside += below(samples[next], median) - below(samples[i], median);
    }
    return squares / base::real(n);
}

}  // namespace

// A resample is n/b blocks drawn with replacement. How many of its samples lie below the series' median is a
// sum of n/b independent counts: nearly normal, its variance known from all blocks. So the limits that
// 1,000,000 resamples would have are at hand without a single one; a count of that many more or fewer samples
// below the median is so many ranks (Woodruff, JASA 47, 1952).
IntervalRanks block_bootstrap_ranks(std::span<const double> samples, double median, double block_length,
                                    double level) {
    const double n = base::real(samples.size());
    const auto b = static_cast<std::size_t>(std::clamp(std::ceil(block_length), 1.0, std::floor(n / 4 + 1)));
    const double blocks = n / base::real(b);
    // Few blocks vary less among themselves than they should: the expanded percentiles of Hesterberg, What
    // teachers should know about the bootstrap, The American Statistician 69, 2015.
    const double t = student_quantile((1 + level) / 2, std::max(3.0, blocks - 1));
    const double deviation = std::sqrt(blocks * block_variance(samples, median, b) * blocks / (blocks - 1));
    const double low = std::max(1.0, std::floor((n + 1) / 2 - t * deviation));
    const auto rank = static_cast<std::size_t>(low);
    return {rank, samples.size() + 1 - rank, 0};
}

}  // namespace ranklab::stats
