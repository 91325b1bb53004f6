#include "forecast/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "base/numbers.hpp"
#include "stats/repeats.hpp"

namespace ranklab::forecast {

double CurvePoint::middle() const {
    return std::exp(stats::log_mean(times_s));
}

namespace {

using Numbers = std::vector<double>;

// The noise before any repeat is seen: a deviation that counts as this many repeats.
constexpr double kPriorDeviation = 0.02, kPriorFreedom = 2;
constexpr double kStatedFreedom = 5;  // repeats that a stated deviation counts as
// Values of the cost of working together at the largest point, relative to the ideal time.
constexpr int kCosts = 40;
constexpr double kLeastCost = 5e-4, kMostCost = 20;
constexpr double kLevel = 1;        // variance of the level's logarithm: as good as unknown
constexpr double kSlope = 0.1;      // discrepancy: variance of the slope's steps, the level's is 1
constexpr double kSpread = 0.5;     // crossing: standard deviation at two nodes, relative
constexpr double kFlatten = 0.25;   // crossing: power of log2 nodes by which its mean grows
constexpr double kNegligible = 12;  // logarithm of a negligible relative weight

struct Place {
    double q, x, ranks, nodes, launches;  // x: log2 q; nodes: 0 if not known
    double level = 0;                     // log2 of the nodes that a capacity makes of it
};

// A hypothesis: one node holds this many ranks.
struct Capacity {
    double ranks = 0, probability = 1;
};

// If nodes are unknown: the first crossing is, equally likely, after the largest point, after twice
// the largest point, or after another point (only if no point tells its nodes).
std::vector<Capacity> capacities_of(const ScalingCurve& curve) {
    if (const double per_node = per_node_of(curve); per_node > 0) return {Capacity{per_node}};
    const double largest = curve.points.back().ranks;
    std::vector<Capacity> found{Capacity{largest}, Capacity{2 * largest}};
    const auto says = [](const CurvePoint& point) { return point.nodes > 0; };
    for (const auto& point : curve.points)
        if (point.ranks < largest && std::ranges::none_of(curve.points, says))
            found.push_back(Capacity{point.ranks});
    for (auto& one : found) one.probability = 1 / base::real(found.size());
    return found;
}

double dot(const Numbers& a, const Numbers& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// The points, then the targets, which have as many launches as the points on average.
std::vector<Place> places_of(const ScalingCurve& curve, std::span<const double> targets) {
    std::vector<Place> places;
    double launches = 0;
    const auto add = [&](double ranks, double nodes, double repeats) {
        const double q = ranks / curve.points.front().ranks;
        places.push_back({q, std::log2(q), ranks, nodes, repeats});
        launches += repeats;
    };
    for (const auto& one : curve.points) add(one.ranks, one.nodes, base::real(one.times_s.size()));
    const double mean = launches / base::real(places.size());
    for (const double ranks : targets) add(ranks, 0, mean);
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

// One growth of the cost, and one cost.
struct Curve {
    std::size_t growth;  // index into kValues
    Numbers logs = {};   // of the times at all places
};

std::vector<Curve> curves_of(const std::vector<Place>& places, double most, bool strong) {
    std::vector<Curve> curves;
    for (std::size_t g = 0; g < kValues[kGrowth].size(); ++g) {
        const double k = kValues[kGrowth][g] + (strong ? 1 : 0);
        const auto grown = [&](double q) {
            return k == 0 ? std::log(q) : std::expm1(k * std::log(q)) / k;
        };
        for (int i = 0; i < kCosts; ++i) {
            const double cost = kLeastCost * std::pow(kMostCost / kLeastCost, (i + 0.5) / kCosts);
            auto& logs = curves.emplace_back(Curve{g}).logs;
            for (const auto& place : places)
                logs.push_back(std::log1p(cost * grown(place.q) / grown(most)) -
                               (strong ? std::log(place.q) : 0));
        }
    }
    return curves;
}

// One size of the discrepancy and one crossing: what they say of the points and the targets.
struct Hypothesis {
    std::size_t discrepancy, crossing;  // indices into kValues
    double probability;
    Numbers shifts;                     // what the crossing adds to the logarithms at all places
    stats::GaussianValues points;       // the residuals of the points
    std::vector<Numbers> weights = {};  // by target: of the residuals, in its prediction
    Numbers noise = {}, strayed = {};   // by target: parts of the prediction's variance
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
    Hypothesis made{d, c, probability, std::move(shifts), {std::move(all), n}};
    for (const auto& target : places.subspan(n)) {
        Numbers with;
        for (const auto& point : places.first(n)) with.push_back(covariance(point, target));
        const auto& weights = made.weights.emplace_back(made.points.weights(with));
        double own = noise / target.launches;
        for (std::size_t i = 0; i < n; ++i)
            own += weights[i] * weights[i] * noise / places[i].launches;
        made.noise.push_back(own);
        made.strayed.push_back(covariance(target, target) - dot(weights, with) - own);
    }
    return made;
}

std::vector<Hypothesis> hypotheses_of(const ScalingCurve& curve, std::vector<Place> places,
                                      const Prior& prior) {
    std::vector<Hypothesis> all;
    for (const auto& [capacity, probability] : capacities_of(curve)) {
        for (auto& [q, x, ranks, nodes, launches, level] : places)
            level = std::log2(nodes > 0 ? nodes : std::max(1.0, std::ceil(ranks / capacity)));
        const bool crosses = std::ranges::max(places, {}, &Place::level).level > 0;
        for (std::size_t d = 0; d < kValues[kDiscrepancy].size(); ++d)
            for (std::size_t c = 0; c < (crosses ? kValues[kCrossing].size() : 1); ++c)
                all.push_back(hypothesis_of(places, curve.points.size(), noise_of(curve), d, c,
                                            probability * prior.of[kDiscrepancy][d] *
                                                (crosses ? prior.of[kCrossing][c] : 1)));
    }
    return all;
}

struct Part {
    const Curve* curve;
    const Hypothesis* under;
    double weight;      // its logarithm, until all parts are known
    Numbers residuals;  // of the points
};

// The distribution of the logarithm of a target's time.
Mixture mixture_of(const std::vector<Part>& parts, std::size_t target) {
    Mixture found;
    double mean = 0, mean_shift = 0, square = 0, square_shift = 0;
    auto& [noise, curve, strayed, crossing] = found.variance;
    for (const auto& part : parts) {
        const auto& [d, c, probability, shifts, points, weights, noises, strays] = *part.under;
        const std::size_t place = part.residuals.size() + target;
        const double shift = shifts[place] - dot(weights[target], shifts),
                     time = part.curve->logs[place] + shifts[place] +
                            dot(weights[target], part.residuals);
        found.parts.push_back({part.weight, time, std::sqrt(noises[target] + strays[target])});
        noise += part.weight * noises[target];
        strayed += part.weight * strays[target];
        mean += part.weight * time;
        square += part.weight * time * time;
        mean_shift += part.weight * shift;
        square_shift += part.weight * shift * shift;
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
    const auto places = places_of(curve, targets);
    Numbers logs;
    for (const auto& point : curve.points) logs.push_back(stats::log_mean(point.times_s));
    const auto curves =
        curves_of(places, places[logs.size() - 1].q, curve.scaling == Scaling::strong);
    const auto hypotheses = hypotheses_of(curve, places, prior);
    std::vector<Part> parts;
    double top = -HUGE_VAL, sum = 0;
    for (const auto& under : hypotheses)
        for (const auto& one : curves) {
            Numbers residuals = logs;
            for (std::size_t i = 0; i < logs.size(); ++i)
                residuals[i] -= logs[0] + one.logs[i] + under.shifts[i];
            const double weight = std::log(under.probability * prior.of[kGrowth][one.growth]) +
                                  under.points.log_norm() - under.points.chi_square(residuals) / 2;
            if (weight < top - kNegligible) continue;
            top = std::max(top, weight);
            parts.push_back({&one, &under, weight, std::move(residuals)});
        }
    std::erase_if(parts, [&](const Part& part) { return part.weight < top - kNegligible; });
    for (auto& part : parts) sum += part.weight = std::exp(part.weight - top);
    Posterior found;
    for (std::size_t u = 0; u < kValues.size(); ++u)
        found.probability.of[u].resize(kValues[u].size());
    const Numbers ones(logs.size(), 1);
    for (auto& part : parts) {
        part.weight /= sum;
        found.misfit += part.weight / base::real(logs.size() - 1) *
                        (dot(part.residuals, part.residuals) -
                         std::pow(dot(part.residuals, ones), 2) / base::real(logs.size()));
        found.probability.of[kGrowth][part.curve->growth] += part.weight;
        found.probability.of[kDiscrepancy][part.under->discrepancy] += part.weight;
        found.probability.of[kCrossing][part.under->crossing] += part.weight;
    }
    for (std::size_t t = 0; t < targets.size(); ++t) {
        found.at.push_back(mixture_of(parts, t));
        for (auto& part : found.at.back().parts) part.mean += logs[0];
    }
    return found;
}

}  // namespace ranklab::forecast
