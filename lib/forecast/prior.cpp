#include "forecast/prior.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "forecast/posterior.hpp"
#include "stats/gaussian.hpp"

namespace ranklab::forecast {
namespace {

constexpr double kOtherKind = 0.5;  // weight of a source of another kind

Prior normalised(Prior prior) {
    for (auto& of : prior.of) {
        const double sum = std::accumulate(of.begin(), of.end(), 0.0);
        for (double& probability : of) probability /= sum;
    }
    return prior;
}

constexpr double kFade = 0.5;  // fall of the logarithm of a growth's weight, per power of the ranks

// Before any source is read; a source adds 1 at most to the weights of an unknown. Chosen with the
// constants of posterior.cpp: the published curves, each forecast without its source, and simulated
// campaigns.
const Prior kBefore = [] {
    Prior prior{.of = {{{},
                        {2, 0.6, 0.18, 0.05, 0.016, 0.005},
                        {0.03, 0.045, 0.075, 0.12, 0.12, 0.09, 0.036}}}};
    for (const double m : kValues[kGrowth])
        prior.of[kGrowth].push_back(std::exp(-kFade * std::max(m, -1.0)));
    return prior;
}();

}  // namespace

double Prior::crossing_factor(double share) const {
    std::vector<stats::NormalPart> parts;
    for (std::size_t i = 0; i < of[kCrossing].size(); ++i)  // the values double
        parts.push_back({of[kCrossing][i], std::log(kValues[kCrossing][i]), std::log(2) / 2});
    return std::exp(std::exp(stats::mixture_quantile(parts, share)));
}

Sources::Sources(const std::vector<ScalingCurve>& curves) {
    for (auto curve : curves) {
        if (curve.points.size() < 3) continue;
        const bool crosses =
            curve.points[1].ranks <= curve.per_node && curve.points.back().ranks > curve.per_node;
        if (!crosses) curve.per_node = HUGE_VAL;
        by_source_[curve.source].push_back(
            {curve.scaling, curve.work, crosses, fit(curve, normalised(kBefore), {}).probability});
    }
}

Prior Sources::prior(Scaling scaling, Work work, std::string_view without) const {
    Prior found = kBefore;
    for (const auto& [source, curves] : by_source_)
        for (const auto unknown : {kDiscrepancy, kCrossing}) {
            double sum = 0, most = 0;
            std::vector<double> weights(found.of[unknown].size());
            for (const auto& curve : curves) {
                if (source == without || (unknown == kCrossing && !curve.crosses)) continue;
                const bool same_kind =
                    curve.scaling == scaling && (work == Work::unknown || curve.work == work);
                const double weight = same_kind ? 1 : kOtherKind;
                sum += weight, most = std::max(most, weight);
                for (std::size_t i = 0; i < weights.size(); ++i)
                    weights[i] += weight * curve.posterior.of[unknown][i];
            }
            for (std::size_t i = 0; sum > 0 && i < weights.size(); ++i)
                found.of[unknown][i] += most / sum * weights[i];
            if (unknown == kCrossing && most == 1) ++found.sources;
        }
    return normalised(std::move(found));
}

}  // namespace ranklab::forecast
