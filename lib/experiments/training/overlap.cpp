#include "experiments/training/communication.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "stats/interval.hpp"

namespace ranklab::experiments {
namespace {

constexpr std::size_t kFewestPairs = 6;  // fewer have no 95 % interval of a median

// Allowed range of OverlapEstimate::balance: 1 if time stamps and step times agree.
constexpr stats::Interval kAgreement{0.75, 1.25};

double median(const std::vector<double>& values) {
    return stats::quantile(values, 0.5);
}

std::vector<double> differences(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> result;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) result.push_back(a[i] - b[i]);
    return result;
}

bool lies_in(double value, const stats::Interval& range) {
    return value >= range.low && value <= range.high;  // false for NaN
}

std::string percent(double share) {
    return fmt::format("{:.1f} %", 100 * share);
}

std::string why_none(const OverlapEstimate& estimate, double overlap, const stats::Interval& ci) {
    if (!lies_in(estimate.balance, kAgreement))
        return fmt::format(
            "stamps and step times disagree (balance {:.2f}, allowed {} to {}); measure on a "
            "quieter machine or with more --overlap-steps",
            estimate.balance, kAgreement.low, kAgreement.high);
    const auto measured = fmt::format("the pairs give {} ({} to {})", percent(overlap),
                                      percent(ci.low), percent(ci.high));
    if (lies_in(overlap, {0, 1}) && !(ci.low < 0 && ci.high > 1)) return "";
    return "undecided: " + measured + "; give more --overlap-steps";
}

}  // namespace

OverlapEstimate estimate_overlap(const OverlapPairs& pairs) {
    OverlapEstimate estimate;
    estimate.exposed = differences(pairs.with, pairs.without);
    // Moving data takes processor time and makes backward longer: this time was not hidden.
    estimate.backward_longer = differences(pairs.backward_with, pairs.backward_without);
    const double total = median(pairs.total);
    if (!(total > 0)) {
        estimate.why_none = "the host cannot time the transfers";
        return estimate;
    }
    estimate.hidden = std::max(
        0.0, median(pairs.inside_backward) - std::max(0.0, median(estimate.backward_longer)));
    estimate.balance = (median(estimate.exposed) + estimate.hidden) / total;
    if (estimate.exposed.size() < kFewestPairs) {
        estimate.why_none =
            fmt::format("{} pairs of steps have no 95 % interval; give --overlap-steps {}",
                        estimate.exposed.size(), kFewestPairs);
        return estimate;
    }
    // Paired: a slow step is slow in both numbers.
    const auto exposed = stats::estimate_paired_ratio(estimate.exposed, pairs.total);
    const double overlap = 1 - exposed.ratio;
    const stats::Interval ci{1 - exposed.ci.high, 1 - exposed.ci.low};
    estimate.why_none = why_none(estimate, overlap, ci);
    if (!estimate.why_none.empty()) return estimate;
    estimate.overlap = overlap;
    estimate.ci = ci;
    return estimate;
}

}  // namespace ranklab::experiments
