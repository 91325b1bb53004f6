#include "forecast/prior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "forecast/posterior.hpp"

namespace ranklab::forecast {
namespace {

// Weights of the values before any source is read; a source adds 1 at most. Chosen by hand, so
// that the intervals of published curves and of simulated campaigns cover.
constexpr Prior kBefore{.discrepancy = {2, 1, 0.4, 0.2, 0.08, 0.03},
                        .crossing = {0.1, 0.15, 0.25, 0.4, 0.4, 0.3, 0.12}};
constexpr double kOtherKind = 0.5;  // weight of a source of another kind

template <std::size_t n>
void normalise(std::array<double, n>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    for (double& value : values) value /= sum;
}

// Adds the values, scaled to the sum `weight`.
template <std::size_t n>
void add(std::array<double, n> values, double weight, std::array<double, n>& to) {
    normalise(values);
    for (std::size_t i = 0; i < n; ++i) to[i] += weight * values[i];
}

}  // namespace

double Prior::crossing_factor(double share) const {
    // Linear between the values: each covers the range up to the next.
    double below = 0;
    for (std::size_t i = 0; i < crossing.size(); ++i) {
        if (below + crossing[i] < share && i + 1 < crossing.size()) {
            below += crossing[i];
            continue;
        }
        const double part = (share - below) / crossing[i];
        return std::exp(kCrossings[i] * std::exp2(part - 0.5));
    }
    return stats::kNone;
}

Sources::Sources(const std::vector<SourceCurve>& curves) {
    Prior flat;
    flat.discrepancy.fill(1);
    flat.crossing.fill(1);
    for (const auto& curve : curves) {
        if (curve.points.size() < 3) continue;
        const bool crosses = curve.per_node > 0 && curve.points[1].ranks <= curve.per_node &&
                             curve.points.back().ranks > curve.per_node;
        const Capacity capacity{crosses ? curve.per_node : std::numeric_limits<double>::infinity()};
        by_source_[curve.source].push_back(
            {curve.scaling, curve.work, crosses,
             fit(curve.points, curve.scaling, flat, {&capacity, 1}, {}).probability});
    }
}

Prior Sources::prior(Scaling scaling, Work work, std::string_view without) const {
    constexpr int kRounds = 5;
    Prior prior = kBefore;
    normalise(prior.discrepancy);
    normalise(prior.crossing);
    for (int round = 0; round < kRounds; ++round) {
        Prior next = kBefore;
        for (const auto& [source, curves] : by_source_) {
            if (source == without) continue;
            // The mean over the source's curves; those of the same kind count more.
            Prior mean;
            double most = 0;
            bool crosses = false;
            for (const auto& curve : curves) {
                const bool same_kind =
                    curve.scaling == scaling && (work == Work::unknown || curve.work == work);
                const double weight = same_kind ? 1 : kOtherKind;
                Prior one;
                for (std::size_t d = 0; d < kDiscrepancies.size(); ++d)
                    for (std::size_t c = 0; c < kCrossings.size(); ++c) {
                        const double joint = curve.likelihood[d][c] * prior.discrepancy[d] *
                                             (curve.crosses ? prior.crossing[c] : 1);
                        one.discrepancy[d] += joint;
                        one.crossing[c] += joint;
                    }
                add(one.discrepancy, weight, mean.discrepancy);
                if (curve.crosses) add(one.crossing, weight, mean.crossing);
                most = std::max(most, weight);
                if (curve.crosses && same_kind) mean.sources = 1;
                crosses = crosses || curve.crosses;
            }
            add(mean.discrepancy, most, next.discrepancy);
            if (crosses) add(mean.crossing, most, next.crossing);
            next.sources += mean.sources;
        }
        normalise(next.discrepancy);
        normalise(next.crossing);
        prior = next;
    }
    return prior;
}

}  // namespace ranklab::forecast
