#include "forecast/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "base/numbers.hpp"
#include "stats/distributions.hpp"
#include "stats/repeats.hpp"

namespace ranklab::forecast {

double CurvePoint::middle() const {
    return std::exp(stats::log_mean(times_s));
}

namespace {

constexpr double kPriorDeviation = 0.02, kPriorFreedom = 2;
constexpr double kStatedFreedom = 5;  // repeats that a stated deviation counts as
constexpr int kNoises = 5;            // values of the noise
constexpr double kLevel = 1;          // variance of the level's logarithm: as good as unknown
// Discrepancy: variance of the slope's steps relative to the variance of the level's steps.
constexpr double kSlope = 0.1;
// Crossing, relative to its value in kCrossings: growth per doubling of the nodes, standard
// deviation at two nodes, and standard deviation per further doubling.
constexpr double kGrowth = 0.4, kSpread = 0.3, kFurther = 0.5;
constexpr double kNegligible = 18;  // logarithm of a negligible relative weight
// By these factors (in logarithms) an interval's ends move away from its median, so that laws in no
// model are covered, too.
constexpr double kBelow = 1.1, kAbove = 1.02;

// A kind of curve. With q = ranks / ranks of the first point, time / time at the first point is the
// ideal (strong: 1/q, weak: 1) plus the terms, with coefficients above 0; or the ideal times q^k.
struct Model {
    using Term = double (*)(double q, double ideal);
    std::string_view strong, weak;  // names
    double strong_prior, weak_prior;
    Term first, second = nullptr;
};
constexpr Model::Term kConstant = [](double q, double) { return 1 - 1 / q; };
constexpr std::array kModels{
    Model{"Amdahl", "Gustafson", 1, 1, kConstant},
    Model{"offset", "offset", 0.2, 1.5, [](double q, double ideal) { return q > 1 ? ideal : 0; }},
    Model{"power law", "power law", 0.7, 0.5, nullptr},
    Model{"logarithmic", "logarithmic", 0.6, 1, kConstant,
          [](double q, double) { return std::log(q); }},
    Model{"square root", "square root", 0.3, 0.4, kConstant,
          [](double q, double) { return std::sqrt(q) - 1; }},
    Model{"USL", "USL", 0.4, 0.15, kConstant, [](double q, double) { return q - 1; }},
    Model{"p log p", "p log p", 1, 0.15, kConstant,
          [](double q, double) { return q * std::log(q); }}};

struct Place {
    double q, x, launches, ranks;  // x: log2 q
    int nodes;                     // 0: as the capacity says

    // Doublings of the nodes from two on; negative: one node.
    double beyond(double capacity) const {
        const double on = nodes > 0 ? nodes : std::ceil(ranks / capacity);
        return on > 1 ? std::log2(on / 2) : -1;
    }
};

// Covariance of a Brownian motion of the level, plus one of the slope, at two times from 0 on.
double walk(double a, double b) {
    const double least = std::min(a, b), most = std::max(a, b);
    return least + kSlope * least * least * (3 * most - least) / 6;
}

// Values of what all curves share.
struct Hypothesis {
    double noise, discrepancy, crossing, capacity;  // noise: variance of one launch's logarithm

    // Logarithm of the crossing's factor.
    double shift(const Place& at) const {
        const double beyond = at.beyond(capacity);
        return beyond >= 0 ? crossing * (1 + kGrowth * beyond) : 0;
    }
    // The covariance of two places, by Doubt. `same`: a place with itself.
    std::array<double, kDoubts> covariance(const Place& a, const Place& b, bool same) const {
        const double both = shift(a) * shift(b);
        return {same ? noise / a.launches : 0, 0, discrepancy * discrepancy * walk(a.x, b.x),
                both == 0
                    ? 0
                    : kSpread * kSpread * both + std::pow(kFurther * crossing, 2) *
                                                     walk(a.beyond(capacity), b.beyond(capacity))};
    }
    double whole(const Place& a, const Place& b, bool same) const {
        const auto parts = covariance(a, b, same);
        return std::accumulate(parts.begin(), parts.end(), kLevel);
    }
};

// The posterior of one model under one hypothesis: moments at each target.
struct Part {
    std::size_t model = 0, discrepancy = 0, crossing = 0,
                group = 0;  // group: capacity and crossing
    double log_weight = 0, weight = 0, misfit = 0;
    std::vector<double> mean = {};
    std::vector<std::array<double, kDoubts>> variance = {};
};

// The logarithms of a model's times at all places, relative to the first, on a grid of
// coefficients.
std::vector<std::vector<double>> curves_of(const Model& model, bool strong,
                                           std::span<const Place> places, double most) {
    const auto ideal = [&](double q) { return strong ? 1 / q : 1; };
    const auto term = [&](Model::Term of, double q) {
        return of(q, ideal(q)) * ideal(most) / of(most, ideal(most));
    };
    const int steps = model.second != nullptr ? 16 : 40;
    const auto coefficient = [&](int step) {
        return std::exp(std::lerp(std::log(5e-4), std::log(20), (step + 0.5) / steps));
    };
    std::vector<std::vector<double>> curves;
    for (int i = 0; i < steps; ++i)
        for (int j = 0; j < (model.second != nullptr ? steps : 1); ++j) {
            auto& curve = curves.emplace_back();
            for (const auto& [q, x, launches, ranks, nodes] : places) {
                double time = ideal(q);
                if (model.first == nullptr)
                    time *= std::pow(q, std::lerp(-0.1, strong ? 1 : 0.7, (i + 0.5) / steps));
                else
                    time += coefficient(i) * term(model.first, q);
                if (model.second != nullptr) time += coefficient(j) * term(model.second, q);
                curve.push_back(std::log(time));
            }
        }
    return curves;
}

class Fitter {
  public:
    Fitter(std::span<const CurvePoint> points, Scaling scaling, std::span<const double> targets)
        : strong_(scaling == Scaling::strong), n_(points.size()), targets_(targets.size()) {
        first_ = stats::log_mean(points.front().times_s);
        double launches = 0;
        const auto add = [&](double ranks, double repeats, int nodes) {
            const double q = ranks / points.front().ranks;
            places_.push_back({q, std::log2(q), repeats, ranks, nodes});
        };
        for (const auto& point : points) {
            const double repeats = base::real(point.times_s.size());
            add(point.ranks, repeats, point.nodes);
            logs_.push_back(stats::log_mean(point.times_s) - first_);
            launches += repeats;
            freedom_ += repeats - 1;
            squares_ += stats::log_squares(point.times_s);
            if (std::isnan(point.deviation)) continue;
            freedom_ += kStatedFreedom;
            squares_ += kStatedFreedom * point.deviation * point.deviation;
        }
        const double most = places_.back().q;
        for (const double ranks : targets) add(ranks, launches / base::real(n_), 0);
        for (const Model& model : kModels)
            curves_.push_back(curves_of(model, strong_, places_, most));
    }

    Posterior run(const Prior& prior, std::span<const Capacity> capacities) {
        for (int i = 0; i < kNoises; ++i)
            for (std::size_t d = 0; d < kDiscrepancies.size(); ++d) {
                const double noise =
                    squares_ / stats::chi_square_quantile((i + 0.5) / kNoises, freedom_);
                auto before = std::exchange(parts_, {});
                add({noise, kDiscrepancies[d], 0, HUGE_VAL}, {0, d, 0, 0});
                const std::vector<Part> one_node = std::exchange(parts_, std::move(before));
                for (std::size_t k = 0; k < capacities.size(); ++k) {
                    const auto& [capacity, probability] = capacities[k];
                    const auto beyond = [&](const Place& at) { return at.beyond(capacity) >= 0; };
                    const bool crosses = std::ranges::any_of(places_, beyond),
                               seen = std::ranges::any_of(std::span(places_).first(n_), beyond);
                    for (std::size_t c = 0; c < (crosses ? kCrossings.size() : 1); ++c) {
                        const Hypothesis one{noise, kDiscrepancies[d], crosses ? kCrossings[c] : 0,
                                             capacity};
                        const std::size_t first = parts_.size();
                        if (seen)
                            add(one, {0, d});
                        else
                            for (const auto& part : one_node) add_ahead(one, part);
                        for (auto& part : std::span(parts_).subspan(first)) {
                            part.crossing = c;
                            part.group = k * kCrossings.size() + c;
                            part.log_weight += std::log(prior.discrepancy[d] * probability *
                                                        (crosses ? prior.crossing[c] : 1));
                        }
                    }
                }
            }
        return result();
    }

  private:
    // Adds the part of one node, as if a crossing were ahead of the points.
    void add_ahead(const Hypothesis& one, Part part) {
        for (std::size_t t = 0; t < targets_; ++t) {
            const Place& target = places_[n_ + t];
            part.mean[t] += one.shift(target);
            part.variance[t][index(Doubt::crossing)] =
                one.covariance(target, target, true)[index(Doubt::crossing)];
        }
        parts_.push_back(std::move(part));
    }

    // Adds a part for each model.
    void add(const Hypothesis& one, Part part) {
        std::vector<double> covariance;
        for (std::size_t i = 0; i < n_ * n_; ++i)
            covariance.push_back(one.whole(places_[i / n_], places_[i % n_], i / n_ == i % n_));
        const stats::GaussianValues process(std::move(covariance), n_);
        std::vector<std::vector<double>> weights;  // of the residuals, in the prediction
        std::vector<std::array<double, kDoubts>> variance(targets_);
        for (std::size_t t = 0; t < targets_; ++t) {
            const Place& target = places_[n_ + t];
            std::vector<double> with;
            for (std::size_t i = 0; i < n_; ++i)
                with.push_back(one.whole(places_[i], target, false));
            weights.push_back(process.weights(with));
            // The prediction's error is a sum of independent parts.
            for (std::size_t i = 0; i <= n_; ++i)
                for (std::size_t j = 0; j <= n_; ++j) {
                    const double both =
                        (i < n_ ? weights[t][i] : -1) * (j < n_ ? weights[t][j] : -1);
                    const auto parts = one.covariance(i < n_ ? places_[i] : target,
                                                      j < n_ ? places_[j] : target, i == j);
                    for (std::size_t k = 0; k < kDoubts; ++k) variance[t][k] += both * parts[k];
                }
        }
        std::vector<double> residuals(n_), shifts, log_weights;
        for (const auto& place : places_) shifts.push_back(one.shift(place));
        const auto set_residuals = [&](const std::vector<double>& curve) {
            for (std::size_t i = 0; i < n_; ++i) residuals[i] = logs_[i] - curve[i] - shifts[i];
        };
        for (std::size_t m = 0; m < kModels.size(); ++m) {
            log_weights.clear();
            for (const auto& curve : curves_[m]) {
                set_residuals(curve);
                log_weights.push_back(process.log_norm() - process.chi_square(residuals) / 2);
            }
            const double top = std::ranges::max(log_weights);
            Part& made = parts_.emplace_back(part);
            made.model = m;
            made.mean.resize(targets_);
            made.variance = variance;
            std::vector<double> squares(targets_);
            for (std::size_t c = 0; c < log_weights.size(); ++c) {
                if (log_weights[c] < top - kNegligible) continue;
                const double weight = std::exp(log_weights[c] - top);
                made.weight += weight;
                set_residuals(curves_[m][c]);
                const double sum = std::accumulate(residuals.begin(), residuals.end(), 0.0);
                made.misfit += weight * (std::inner_product(residuals.begin(), residuals.end(),
                                                            residuals.begin(), 0.0) -
                                         sum * sum / base::real(n_));
                for (std::size_t t = 0; t < targets_; ++t) {
                    const double mean = curves_[m][c][n_ + t] + shifts[n_ + t] +
                                        std::inner_product(residuals.begin(), residuals.end(),
                                                           weights[t].begin(), 0.0);
                    made.mean[t] += weight * mean;
                    squares[t] += weight * mean * mean;
                }
            }
            for (std::size_t t = 0; t < targets_; ++t) {
                made.mean[t] /= made.weight;
                made.variance[t][index(Doubt::curve)] =
                    std::max(0.0, squares[t] / made.weight - made.mean[t] * made.mean[t]);
            }
            made.misfit /= made.weight * base::real(n_ - 1);
            made.log_weight +=
                top + std::log(made.weight / base::real(log_weights.size()) *
                               (strong_ ? kModels[m].strong_prior : kModels[m].weak_prior));
        }
    }

    Posterior result() {
        Posterior found{.at = std::vector<Mixture>(targets_)};
        const double top = std::ranges::max(parts_, {}, &Part::log_weight).log_weight;
        std::erase_if(parts_,
                      [&](const Part& part) { return part.log_weight < top - kNegligible; });
        double total = 0;
        for (auto& part : parts_) total += part.weight = std::exp(part.log_weight - top);
        for (auto& part : parts_) {
            part.weight /= total;
            found.weights[strong_ ? kModels[part.model].strong : kModels[part.model].weak] +=
                part.weight;
            found.misfit += part.weight * part.misfit;
            found.probability[part.discrepancy][part.crossing] += part.weight;
        }
        for (std::size_t t = 0; t < targets_; ++t) {
            auto& [parts, variance] = found.at[t];
            std::map<std::size_t, std::array<double, 2>> groups;  // weight, and weight x mean
            double mean = 0, square = 0, between = 0;
            for (const auto& part : parts_) {
                for (std::size_t k = 0; k < kDoubts; ++k)
                    variance[k] += part.weight * part.variance[t][k];
                parts.push_back({part.weight, first_ + part.mean[t],
                                 std::sqrt(std::accumulate(part.variance[t].begin(),
                                                           part.variance[t].end(), 0.0))});
                mean += part.weight * part.mean[t];
                square += part.weight * part.mean[t] * part.mean[t];
                groups[part.group][0] += part.weight;
                groups[part.group][1] += part.weight * part.mean[t];
            }
            for (const auto& [group, sums] : groups) between += sums[1] * sums[1] / sums[0];
            variance[index(Doubt::crossing)] += between - mean * mean;
            variance[index(Doubt::curve)] += square - between;
        }
        return found;
    }

    static std::size_t index(Doubt doubt) { return static_cast<std::size_t>(doubt); }

    bool strong_;
    std::size_t n_, targets_;
    std::vector<Place> places_;  // the points, then the targets
    std::vector<double> logs_;   // of the points' times, relative to the first
    double first_ = 0;
    double freedom_ = kPriorFreedom, squares_ = kPriorFreedom * kPriorDeviation * kPriorDeviation;
    std::vector<std::vector<std::vector<double>>> curves_;  // by model
    std::vector<Part> parts_;
};

}  // namespace

double Mixture::quantile(double share) const {
    return std::exp(stats::mixture_quantile(parts, share));
}

Estimate Mixture::estimate() const {
    const double time = quantile(0.5), tail = (1 - stats::kConfidence) / 2;
    return {time,
            {time * std::pow(quantile(tail) / time, kBelow),
             time * std::pow(quantile(1 - tail) / time, kAbove)}};
}

Posterior fit(std::span<const CurvePoint> points, Scaling scaling, const Prior& prior,
              std::span<const Capacity> capacities, std::span<const double> targets) {
    return Fitter(points, scaling, targets).run(prior, capacities);
}

}  // namespace ranklab::forecast
