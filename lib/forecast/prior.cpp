#include "forecast/prior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/numbers.hpp"
#include "forecast/posterior.hpp"

namespace ranklab::forecast {
namespace {

// Counts before any source is read, to which a source adds 1 at most (docs/predict.md).
const Prior kBefore{.model = std::vector<double>(kModels, 0.2),
                    .discrepancy = {2, 1, 0.4, 0.2, 0.08, 0.03},
                    .crossing = {0.1, 0.15, 0.25, 0.4, 0.4, 0.3, 0.12}};
constexpr double kOtherKind = 0.5;  // weight of a source of another kind
constexpr auto kParts = std::array{&Prior::model, &Prior::discrepancy, &Prior::crossing};

}  // namespace

double Prior::crossing_factor(double share) const {
    // Linear between the values: each covers the range up to the next.
    std::size_t i = 0;
    while (i + 1 < crossing.size() && crossing[i] < share) share -= crossing[i++];
    return std::exp(kCrossings[i] * std::exp2(share / crossing[i] - 0.5));
}

void Prior::add(const Prior& other, double weight) {
    for (const auto part : kParts)
        for (std::size_t i = 0; i < (this->*part).size(); ++i)
            (this->*part)[i] += weight * (other.*part)[i];
}

Prior Prior::normalised() const {
    Prior one = *this;
    for (const auto part : kParts) {
        const double sum = std::accumulate((this->*part).begin(), (this->*part).end(), 0.0);
        for (double& value : one.*part) value /= sum > 0 ? sum : 1;
    }
    return one;
}

Prior Sources::Learned::posterior(const Prior& prior) const {
    Prior found;
    for (std::size_t m = 0; m < kModels; ++m)
        for (std::size_t d = 0; d < kDiscrepancies.size(); ++d)
            for (std::size_t c = 0; c < kCrossings.size(); ++c) {
                const double joint = likelihood[m][d][c] * prior.model[m] * prior.discrepancy[d] *
                                     (crosses ? prior.crossing[c] : 1);
                found.model[m] += joint;
                found.discrepancy[d] += joint;
                if (crosses) found.crossing[c] += joint;
            }
    return found.normalised();
}

Sources::Sources(const std::vector<SourceCurve>& curves) {
    Prior flat;
    for (const auto part : kParts) std::ranges::fill(flat.*part, 1);
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
    Prior prior = kBefore.normalised();
    for (int round = 0; round < kRounds; ++round) {
        Prior next = kBefore;
        for (const auto& [source, curves] : by_source_) {
            if (source == without) continue;
            // The mean over the source's curves; those of the same kind count more.
            Prior sum;
            double most = 0;
            bool crosses = false;
            for (const auto& curve : curves) {
                const bool same_kind =
                    curve.scaling == scaling && (work == Work::unknown || curve.work == work);
                const double weight = same_kind ? 1 : kOtherKind;
                sum.add(curve.posterior(prior), weight);
                most = std::max(most, weight);
                crosses = crosses || (same_kind && curve.crosses);
            }
            next.add(sum.normalised(), most);
            next.sources += crosses ? 1 : 0;
        }
        prior = next.normalised();
    }
    return prior;
}

}  // namespace ranklab::forecast
