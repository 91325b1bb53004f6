#include "forecast/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/numbers.hpp"

namespace ranklab::forecast {
namespace {

using Numbers = std::vector<double>;

// The parallel overhead grows with ranks^m. The prior weight of m is exp(-kFade max(m, -1)).
constexpr std::array kGrowths{-4.0, -1.0, -0.75, -0.5, -0.25, 0.0, 0.25,
                              0.5,  0.75, 1.0,   1.25, 1.5,   1.75};
constexpr double kFade = 0.5;
// The grid of overheads at the largest point, relative to the ideal time.
constexpr int kCosts = 40;
constexpr double kLeastCost = 5e-4, kMostCost = 20;
// The prior of the noise: a standard deviation, and the number of repeats that it counts as.
constexpr double kPriorDeviation = 0.02, kPriorFreedom = 2;
constexpr double kStatedFreedom = 5;  // repeats that a stated deviation counts as
constexpr double kLevel = 1;          // variance of the level's logarithm: as good as unknown
constexpr double kSlope = 0.1;      // discrepancy: variance of the slope's steps, the level's is 1
constexpr double kSpread = 0.5;     // crossing: standard deviation at two nodes, relative
constexpr double kFlatten = 0.25;   // crossing: power of log2 nodes by which its mean grows
constexpr double kNegligible = 12;  // logarithm of a negligible relative weight
// Weights if nodes are unknown: the largest point fills one node; the largest point fills half a
// node; a smaller point fills one node.
constexpr double kFilled = 0.4, kHalfFilled = 0.1, kWithin = 0.4;

struct Place {
    double x, ranks, nodes, launches;  // x: log2(ranks / the first point's); nodes: 0 if unknown
    double level = 0;                  // log2 of `nodes`, or of the nodes that a capacity implies
};

// The ranks that one node may hold, each with its weight.
std::vector<std::pair<double, double>> capacities_of(const ScalingCurve& curve) {
    if (const double per_node = per_node_of(curve); per_node > 0) return {{per_node, 1}};
    const double largest = curve.points.back().ranks, share = 1 / base::real(curve.points.size());
    const bool told = std::ranges::any_of(curve.points, &CurvePoint::nodes);
    std::vector<std::pair<double, double>> found{{largest, kFilled}, {2 * largest, kHalfFilled}};
    for (const auto& [ranks, times_s, nodes, deviation] : curve.points)
        if (ranks < largest && !told) found.emplace_back(ranks, share * kWithin);
    return found;
}

double dot(const Numbers& a, const Numbers& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// The points, then the targets, which have as many launches as the points on average.
std::vector<Place> places_of(const ScalingCurve& curve, std::span<const double> targets) {
    std::vector<Place> places;
    const double first = curve.points.front().ranks;
    double mean = 0;
    for (const auto& [ranks, times_s, nodes, deviation] : curve.points) {
        const double launches = base::real(times_s.size());
        places.push_back({std::log2(ranks / first), ranks, nodes, launches});
        mean += launches / base::real(curve.points.size());
    }
    for (const double ranks : targets) places.push_back({std::log2(ranks / first), ranks, 0, mean});
    return places;
}

// The variance of one launch's logarithm.
double noise_of(const ScalingCurve& curve) {
    double freedom = kPriorFreedom, squares = kPriorFreedom * kPriorDeviation * kPriorDeviation;
    for (const auto& point : curve.points) {
        freedom += base::real(point.times_s.size() - 1);
        squares += stats::log_squares(point.times_s);
        if (std::isnan(point.deviation)) continue;
        freedom += kStatedFreedom;
        squares += kStatedFreedom * point.deviation * point.deviation;
    }
    return squares / freedom;
}

// The curve of one exponent in kGrowths and one overhead.
struct Curve {
    double weight;      // logarithm of the prior probability
    Numbers logs = {};  // of the times at all places
};

std::vector<Curve> curves_of(std::span<const Place> places, double largest, bool strong) {
    std::vector<Curve> curves;
    for (const double m : kGrowths) {
        const double k = strong ? m + 1 : m;
        const auto grown = [&](double x) {
            const double log_q = x * std::numbers::ln2;
            return k == 0 ? log_q : std::expm1(k * log_q) / k;
        };
        for (int i = 0; i < kCosts; ++i) {
            const double cost = kLeastCost * std::pow(kMostCost / kLeastCost, (i + 0.5) / kCosts);
            auto& logs = curves.emplace_back(Curve{-kFade * std::max(m, -1.0)}).logs;
            for (const auto& [x, ranks, nodes, launches, level] : places)
                logs.push_back(std::log1p(cost * grown(x) / grown(largest)) -
                               (strong ? x * std::numbers::ln2 : 0));
        }
    }
    return curves;
}

// The logarithm of a target's time, predicted as a weighted sum of the points' residuals.
struct Prediction {
    Numbers weights;
    double noise, strayed;  // parts of its variance: scatter of runs, and distance from the curve
};

// What one discrepancy, one crossing and one node capacity imply for the points and the targets.
struct Hypothesis {
    std::size_t discrepancy, crossing;  // indices into kValues
    double weight;                      // logarithm of the prior probability
    Numbers shifts;                     // what the crossing adds to the logarithms at all places
    stats::GaussianValues points;       // the residuals of the points
    std::vector<Prediction> targets = {};
};

Hypothesis hypothesis_of(std::span<const Place> places, std::size_t n, double noise, std::size_t d,
                         std::size_t c, double probability) {
    const double size = kValues[kDiscrepancy][d], step = kValues[kCrossing][c];
    const auto covariance = [&](const Place& a, const Place& b) {
        const double least = std::min(a.x, b.x), most = std::max(a.x, b.x),
                     walk = least + kSlope * least * least * (3 * most - least) / 6;
        return kLevel + size * size * walk +
               std::pow(kSpread * step, 2) * std::min(a.level, b.level) +
               (&a == &b ? noise / a.launches : 0);
    };
    Numbers all, shifts;
    for (const auto& place : places) shifts.push_back(step * std::pow(place.level, kFlatten));
    for (const auto& a : places.first(n))
        for (const auto& b : places.first(n)) all.push_back(covariance(a, b));
    Hypothesis made{d, c, std::log(probability), std::move(shifts), {std::move(all), n}};
    for (const auto& target : places.subspan(n)) {
        Numbers with;
        for (const auto& point : places.first(n)) with.push_back(covariance(point, target));
        auto weights = made.points.weights(with);
        double own = noise / target.launches;
        for (std::size_t i = 0; i < n; ++i)
            own += weights[i] * weights[i] * noise / places[i].launches;
        const double strayed = covariance(target, target) - dot(weights, with) - own;
        made.targets.push_back({std::move(weights), own, strayed});
    }
    return made;
}

std::vector<Hypothesis> hypotheses_of(const ScalingCurve& curve, std::vector<Place> places,
                                      const Prior& prior) {
    std::vector<Hypothesis> all;
    for (const auto& [capacity, weight] : capacities_of(curve)) {
        for (auto& [x, ranks, nodes, launches, level] : places)
            level = std::log2(nodes > 0 ? nodes : std::max(1.0, std::ceil(ranks / capacity)));
        const bool crosses = std::ranges::max(places, {}, &Place::level).level > 0;
        for (std::size_t d = 0; d < kValues[kDiscrepancy].size(); ++d)
            for (std::size_t c = 0; c < (crosses ? kValues[kCrossing].size() : 1); ++c)
                all.push_back(hypothesis_of(
                    places, curve.points.size(), noise_of(curve), d, c,
                    weight * prior.of[kDiscrepancy][d] * (crosses ? prior.of[kCrossing][c] : 1)));
    }
    return all;
}

struct Part {
    const Curve* curve;
    const Hypothesis* under;
    double weight;      // first its logarithm; normalised once all parts are known
    Numbers residuals;  // of the points
};

// The distribution of the logarithm of a target's time.
Mixture mixture_of(const std::vector<Part>& parts, std::size_t target, double first) {
    Mixture found;
    double mean = 0, mean_shift = 0, square = 0, square_shift = 0;
    auto& [noise, curve, strayed, crossing] = found.variance;
    for (const auto& [one, under, weight, residuals] : parts) {
        const auto& [weights, own, strays] = under->targets[target];
        const std::size_t place = residuals.size() + target;
        const double shift = under->shifts[place] - dot(weights, under->shifts),
                     time = one->logs[place] + under->shifts[place] + dot(weights, residuals);
        found.parts.push_back({weight, first + time, std::sqrt(own + strays)});
        noise += weight * own;
        strayed += weight * strays;
        mean += weight * time;
        square += weight * time * time;
        mean_shift += weight * shift;
        square_shift += weight * shift * shift;
    }
    crossing = square_shift - mean_shift * mean_shift;
    curve = square - mean * mean - crossing;
    return found;
}

}  // namespace

double Mixture::quantile(double share) const {
    return std::exp(stats::mixture_quantile(parts, share));
}

Estimate Mixture::estimate() const {
    const double tail = (1 - stats::kConfidence) / 2;
    return {quantile(0.5), {quantile(tail), quantile(1 - tail)}};
}

double per_node_of(const ScalingCurve& curve) {
    double most = curve.per_node;
    for (const auto& point : curve.points)
        if (point.nodes > 1) most = std::max(most, std::ceil(point.ranks / point.nodes));
    return most;
}

Posterior fit(const ScalingCurve& curve, const Prior& prior, std::span<const double> targets) {
    const std::size_t n = curve.points.size();
    const auto places = places_of(curve, targets);
    const auto curves = curves_of(places, places[n - 1].x, curve.scaling == Scaling::strong);
    const auto hypotheses = hypotheses_of(curve, places, prior);
    Numbers logs;
    for (const auto& point : curve.points) logs.push_back(stats::log_mean(point.times_s));
    std::vector<Part> parts;
    double top = -HUGE_VAL, sum = 0;
    for (const auto& under : hypotheses)
        for (const auto& one : curves) {
            Numbers residuals = logs;
            for (std::size_t i = 0; i < n; ++i)
                residuals[i] -= logs[0] + one.logs[i] + under.shifts[i];
            const double weight = one.weight + under.weight + under.points.log_norm() -
                                  under.points.chi_square(residuals) / 2;
            if (weight < top - kNegligible) continue;
            top = std::max(top, weight);
            parts.push_back({&one, &under, weight, std::move(residuals)});
        }
    for (auto& part : parts) sum += part.weight = std::exp(part.weight - top);
    Posterior found;
    for (std::size_t u = 0; u < kValues.size(); ++u)
        found.probability.of[u].resize(kValues[u].size());
    for (auto& [one, under, weight, residuals] : parts) {
        weight /= sum;
        const double mean = stats::mean_of_finite(residuals);
        for (const double residual : residuals)
            found.misfit += weight / base::real(n - 1) * std::pow(residual - mean, 2);
        found.probability.of[kDiscrepancy][under->discrepancy] += weight;
        found.probability.of[kCrossing][under->crossing] += weight;
    }
    for (std::size_t t = 0; t < targets.size(); ++t)
        found.at.push_back(mixture_of(parts, t, logs[0]));
    return found;
}

}  // namespace ranklab::forecast
