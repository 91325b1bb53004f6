#include "stats/change_points.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/numbers.hpp"
#include "stats/distributions.hpp"
#include "stats/summary.hpp"

namespace ranklab::stats {
namespace {

using Values = std::vector<double>;
using View = std::span<const double>;
using base::real;

constexpr std::size_t kWindow = 200, kFewest = 3;  // values: in a window; on each side of a step
constexpr std::size_t kPermutations = 999, kMostExceeding = 6;
constexpr double kLevel = 0.008;     // of the t test over all splits of the window
constexpr double kFar = 4;           // standard deviations from the median of neighbours to a spike
constexpr std::size_t kRefined = 5;  // values after which a step found keeps its place
constexpr double kApart = 5;         // distance of two levels, in standard deviations within them

// Hampel's filter: replaces a spike by the median of five values around it. Takes the spread from
// differences between neighbours, which steps do not widen.
Values without_spikes(View x, double least, std::vector<std::size_t>* spikes = nullptr) {
    Values smooth(x.begin(), x.end()), differences;
    if (x.size() < 5) return smooth;
    for (std::size_t i = 1; i < x.size(); ++i) differences.push_back(std::abs(x[i] - x[i - 1]));
    const double spread = quantile(differences, 0.5) * 1.4826 / std::sqrt(2.0);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t first = std::clamp<std::size_t>(i, 2, x.size() - 3) - 2;
        const double middle = quantile(x.subspan(first, 5), 0.5);
        if (std::abs(x[i] - middle) <= std::max(kFar * spread, least)) continue;
        smooth[i] = middle;
        if (spikes != nullptr) spikes->push_back(i);
    }
    return smooth;
}

// A split into two parts: the difference of the parts' means, and the sums of squares about the two
// means and about the mean of all.
struct Split {
    std::size_t at = 0;
    double shift = 0, squares = INFINITY, of_all = 0;
};

Split best_split(View x, std::size_t fewest) {
    const double n = real(x.size()), mean = mean_of_finite(x);
    double of_all = 0, sum = 0;
    for (const double value : x) of_all += (value - mean) * (value - mean);
    Split best;
    for (std::size_t at = 1; at + fewest <= x.size(); ++at) {
        sum += x[at - 1] - mean;
        const double share = n / (real(at) * (n - real(at)));
        const double squares = std::max(0.0, of_all - sum * sum * share);
        if (at >= fewest && squares < best.squares) best = {at, -sum * share, squares, of_all};
    }
    return best;
}

// A split with b values after it gets a share of kLevel that falls as 1 / b: the splits with small
// b were not tested before. Fewer than 7 values need stronger evidence.
bool is_significant(const Split& split, std::size_t n) {
    const double a = real(split.at), b = real(n) - a, degrees = real(n - 2);
    const double share = std::pow(std::min(1.0, b / 7), 4) / (b * (1 + std::log(real(n))));
    return std::abs(split.shift) > student_quantile(1 - kLevel / 2 * share, degrees) *
                                       std::sqrt(split.squares / degrees * (1 / a + 1 / b));
}

// A step must beat a line by a few variances of one value: by more if the shorter part is long,
// since a drift explains two long parts, too.
bool is_line(View x, const Split& split) {
    const double n = real(x.size()), shorter = std::min(real(split.at), n - real(split.at));
    const double margin = std::clamp(2 * shorter - 11, 3.0, 20.0);
    double along = 0;
    for (std::size_t i = 0; i < x.size(); ++i) along += x[i] * (real(i) - (n - 1) / 2);
    const double squares = split.of_all - along * along * 12 / (n * (n * n - 1));
    return squares < split.squares * (1 + margin / (n - 2));
}

// Whether the values are two clusters, each of at least 5 %, that alternate.
bool has_two_levels(View x) {
    Values ordered(x.begin(), x.end());
    std::ranges::sort(ordered);
    const Split split = best_split(ordered, std::max(kFewest, x.size() / 20));
    if (!(split.shift > kApart * std::sqrt(split.squares / real(x.size())))) return false;
    const double border = (ordered[split.at - 1] + ordered[split.at]) / 2;
    std::size_t switches = 0;
    for (std::size_t i = 1; i < x.size(); ++i)
        switches += (x[i] > border) != (x[i - 1] > border) ? 1 : 0;
    return switches >= 4 && 10 * switches >= x.size();
}

// The largest energy statistic of a split, and the index at which its right part begins.
std::pair<double, std::size_t> largest_energy(View x) {
    double left = 0, right = 0, between = 0;  // sums of distances within and between the parts
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t k = 0; k < i; ++k) right += std::abs(x[i] - x[k]);
    std::pair<double, std::size_t> best{-INFINITY, 0};
    for (std::size_t at = 0; at + kFewest < x.size(); ++at) {
        double to_left = 0, to_right = 0;
        for (std::size_t i = 0; i < at; ++i) to_left += std::abs(x[at] - x[i]);
        for (std::size_t i = at + 1; i < x.size(); ++i) to_right += std::abs(x[at] - x[i]);
        left += to_left;
        right -= to_right;
        between += to_right - to_left;
        const double a = real(at + 1), b = real(x.size()) - a;
        const double within = left / (a * (a - 1)) + right / (b * (b - 1));
        if (at + 1 >= kFewest)
            best = std::max(best, {a * b / (a + b) * (between / (a * b) - within), at + 1});
    }
    return best;
}

bool passes_permutations(Values x, double seen) {
    std::mt19937_64 random(x.size());
    std::size_t exceeding = 0;
    for (std::size_t i = 0; i < kPermutations && exceeding <= kMostExceeding; ++i) {
        for (std::size_t k = x.size(); k > 1; --k) std::swap(x[k - 1], x[random() % k]);
        exceeding += largest_energy(x).first >= seen * (1 - 1e-9) ? 1 : 0;
    }
    return exceeding <= kMostExceeding;
}

}  // namespace

Changes change_points(View series, double min_effect) {
    Changes found;
    Values all;
    for (const double value : series) all.push_back(std::log(value));
    if (!std::ranges::all_of(all, [](double x) { return std::isfinite(x); })) return found;
    const double least = std::log1p(min_effect);
    std::size_t begin = 0, before = 0, named = 0;
    for (std::size_t end = 2 * kFewest; end <= all.size(); ++end) {
        begin = std::max(begin, end - std::min(end, kWindow));
        if (!found.steps.empty() && end <= named + kRefined) {
            const auto x = without_spikes(View(all).subspan(before, end - before), least);
            begin = found.steps.back() = before + best_split(x, kFewest).at;
        }
        if (end - begin < 2 * kFewest) continue;
        const View raw = View(all).subspan(begin, end - begin);
        const Values x = without_spikes(raw, least);
        const Split split = best_split(x, kFewest);
        found.two_levels = end == all.size() && has_two_levels(raw);
        found.drifts = false;
        if (std::abs(split.shift) < least || !is_significant(split, x.size())) continue;
        found.drifts = is_line(x, split);
        if (found.drifts || has_two_levels(raw)) continue;
        const auto [energy, at] = largest_energy(x);
        if (!passes_permutations(x, energy)) continue;
        before = begin, named = end;
        found.steps.push_back(begin += at);
    }
    without_spikes(View(all).first(found.two_levels ? begin : all.size()), least, &found.spikes);
    return found;
}

}  // namespace ranklab::stats
