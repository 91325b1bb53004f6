#include "forecast/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/numbers.hpp"
#include "stats/distributions.hpp"
#include "stats/repeats.hpp"

namespace ranklab::forecast {

double CurvePoint::middle() const {
    return std::exp(stats::log_mean(times_s));
}

namespace {

constexpr double kPriorDeviation = 0.02, kPriorFreedom = 2;  // of the noise, before any repeat
constexpr double kStatedFreedom = 5;  // repeats that a stated deviation counts as
constexpr int kNoises = 3;            // values of the noise
constexpr double kLevel = 1;          // variance of the level: as good as unknown
// Discrepancy: variance of the slope's steps relative to the variance of the level's steps.
constexpr double kSlope = 0.1;
// Crossing, relative to its value in kCrossings: growth per doubling of the nodes, standard
// deviation at two nodes, and standard deviation per further doubling.
constexpr double kGrowth = 0.3, kSpread = 0.3, kFurther = 0.5;
// Coefficients, relative to the ideal time at the largest point, and exponents: the prior falls as
// 1 / (c + kSmall), up to kLargest. The points of their grid, alone and in pairs.
constexpr double kSmall = 0.002, kLargest = 20;
constexpr double kLowest = -0.1, kHighest = 0.8;  // exponents after a bend
constexpr std::size_t kSteps = 80, kPairSteps = 32;
constexpr double kNegligible = 18;  // logarithm of a negligible relative weight

using Term = double (*)(double q);
constexpr Term kConstant = [](double q) { return 1 - 1 / q; },
               kLog = [](double q) { return std::log(q); },
               kRoot = [](double q) { return std::sqrt(q) - 1; },
               kLinear = [](double q) { return q - 1; },
               kLinearLog = [](double q) { return q * std::log(q); };
struct Model {
    std::string_view name;
    enum { ideal, terms, offset, bend } kind = terms;
    Term first = nullptr, second = nullptr;
};
constexpr std::array<Model, kModels> kModelList{{{"ideal", Model::ideal},
                                                 {"Amdahl", Model::terms, kConstant},
                                                 {"offset", Model::offset},
                                                 {"logarithmic", Model::terms, kLog},
                                                 {"logarithmic", Model::terms, kLog, kConstant},
                                                 {"square root", Model::terms, kRoot},
                                                 {"square root", Model::terms, kRoot, kConstant},
                                                 {"USL", Model::terms, kLinear},
                                                 {"USL", Model::terms, kLinear, kConstant},
                                                 {"p log p", Model::terms, kLinearLog},
                                                 {"p log p", Model::terms, kLinearLog, kConstant},
                                                 {"bend", Model::bend}}};

// A point or target.
struct Place {
    double ranks, q, launches;
    int nodes;  // 0: as the capacity says

    double x() const { return std::log2(q); }
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

// What the Gaussian process depends on.
struct Hypothesis {
    double noise, discrepancy, crossing, capacity;  // noise: variance of one launch's logarithm

    // Logarithm of the crossing's factor.
    double shift(const Place& at) const {
        const double beyond = at.beyond(capacity);
        return beyond >= 0 ? crossing * (1 + kGrowth * beyond) : 0;
    }
    // The covariance of two places, by Doubt, without the level. `same`: a place with itself.
    std::array<double, kDoubts> covariance(const Place& a, const Place& b, bool same) const {
        const double shifts = shift(a) * shift(b);
        const double steps = walk(a.beyond(capacity), b.beyond(capacity));
        return {same ? noise / a.launches : 0, 0, discrepancy * discrepancy * walk(a.x(), b.x()),
                shifts == 0
                    ? 0
                    : kSpread * kSpread * shifts + std::pow(kFurther * crossing, 2) * steps};
    }
    double whole(const Place& a, const Place& b, bool same) const {
        const auto parts = covariance(a, b, same);
        return std::accumulate(parts.begin(), parts.end(), kLevel);
    }
};

// The posterior of one model under one hypothesis: moments at each target.
struct Part {
    std::size_t model = 0, discrepancy = 0, crossing = 0, capacity = 0;
    double weight = 0;  // its logarithm, until all parts are known
    std::vector<double> mean = {};
    std::vector<std::array<double, kDoubts>> variance = {};
};

// The curves of a model on the grid of its coefficients.
struct Curves {
    std::size_t count = 0;
    std::vector<double> targets = {};    // [target][curve]: logarithms of the times
    std::vector<double> residuals = {};  // [point][curve]: of the points' logarithms
    std::vector<double> products = {};   // [point][no later point][curve]: of two residuals
};

std::size_t index(Doubt doubt) {
    return static_cast<std::size_t>(doubt);
}

class Fitter {
  public:
    Fitter(std::span<const CurvePoint> points, Scaling scaling, const Prior& prior,
           std::span<const double> targets)
        : strong_(scaling == Scaling::strong), prior_(prior) {
        double freedom = kPriorFreedom, squares = kPriorFreedom * kPriorDeviation * kPriorDeviation,
               launches = 0;
        const auto place = [&](double ranks, double of, int nodes) {
            return Place{ranks, ranks / points.front().ranks, of, nodes};
        };
        for (const auto& point : points) {
            const double repeats = base::real(point.times_s.size());
            points_.push_back(place(point.ranks, repeats, point.nodes));
            logs_.push_back(stats::log_mean(point.times_s));
            launches += repeats;
            freedom += repeats - 1;
            squares += stats::log_squares(point.times_s);
            if (std::isnan(point.deviation)) continue;
            freedom += kStatedFreedom;
            squares += kStatedFreedom * point.deviation * point.deviation;
        }
        for (const double ranks : targets)
            targets_.push_back(place(ranks, launches / base::real(points.size()), 0));
        first_ = logs_.front();
        for (double& log : logs_) log -= first_;
        for (int i = 0; i < kNoises; ++i)
            noises_.push_back(squares / stats::chi_square_quantile((i + 0.5) / kNoises, freedom));
        for (const Model& model : kModelList) curves_.push_back(curves_of(model));
    }

    Posterior run(std::span<const Capacity> capacities) {
        for (const double noise : noises_)
            for (std::size_t d = 0; d < kDiscrepancies.size(); ++d) {
                const auto one_node = parts_of({noise, kDiscrepancies[d], 0, HUGE_VAL});
                for (std::size_t k = 0; k < capacities.size(); ++k) {
                    const double ranks = capacities[k].ranks;
                    const auto beyond = [&](const Place& at) { return at.beyond(ranks) >= 0; };
                    const bool seen = std::ranges::any_of(points_, beyond),
                               crosses = seen || std::ranges::any_of(targets_, beyond);
                    for (std::size_t c = 0; c < (crosses ? kCrossings.size() : 1); ++c) {
                        const Hypothesis one{noise, kDiscrepancies[d], crosses ? kCrossings[c] : 0,
                                             ranks};
                        for (auto& part : seen ? parts_of(one) : ahead(one, one_node)) {
                            part.discrepancy = d;
                            part.crossing = c;
                            part.capacity = k;
                            part.weight +=
                                std::log(prior_.discrepancy[d] * capacities[k].probability *
                                         (crosses ? prior_.crossing[c] : 1));
                            parts_.push_back(std::move(part));
                        }
                    }
                }
            }
        return result();
    }

  private:
    Curves curves_of(const Model& model) const {
        const bool two = model.second != nullptr || model.kind == Model::bend;
        const std::size_t steps = model.kind == Model::ideal ? 1
                                  : two                      ? kPairSteps
                                                             : kSteps,
                          others = two ? steps : 1;
        const double most = points_.back().q;
        const auto share = [&](std::size_t step) {
            return (base::real(step) + 0.5) / base::real(steps);
        };
        const auto coefficient = [&](std::size_t step, double largest) {
            return kSmall * std::expm1(share(step) * std::log1p(largest / kSmall));
        };
        // A term, relative to the ideal time.
        const auto term = [&](Term of, std::size_t step, double q) {
            return of == nullptr
                       ? 0
                       : coefficient(step, kLargest) * of(q) / of(most) * (strong_ ? q / most : 1);
        };
        const auto factor = [&](double q, std::size_t i, std::size_t j) {
            if (model.kind == Model::offset) return q > 1 ? 1 + coefficient(i, kLargest) : 1;
            if (model.kind == Model::bend)
                return std::pow(std::max(1.0, q / std::pow(most, share(j))),
                                std::lerp(kLowest, kHighest, share(i)));
            return 1 + term(model.first, i, q) + term(model.second, j, q);
        };
        const auto logs = [&](const Place& at, std::vector<double>& to, double from, double sign) {
            for (std::size_t i = 0; i < steps; ++i)
                for (std::size_t j = 0; j < others; ++j)
                    to.push_back(from + sign * std::log(factor(at.q, i, j) / (strong_ ? at.q : 1)));
        };
        Curves made{steps * others};
        for (const auto& target : targets_) logs(target, made.targets, 0, 1);
        for (std::size_t i = 0; i < points_.size(); ++i)
            logs(points_[i], made.residuals, logs_[i], -1);
        for (std::size_t i = 0; i < points_.size(); ++i)
            for (std::size_t j = 0; j <= i; ++j)
                for (std::size_t c = 0; c < made.count; ++c)
                    made.products.push_back(made.residuals[i * made.count + c] *
                                            made.residuals[j * made.count + c]);
        return made;
    }

    // The parts of one node, with the crossing ahead of the points.
    std::vector<Part> ahead(const Hypothesis& one, std::vector<Part> parts) const {
        for (auto& part : parts)
            for (std::size_t t = 0; t < targets_.size(); ++t) {
                part.mean[t] += one.shift(targets_[t]);
                part.variance[t][index(Doubt::crossing)] =
                    one.covariance(targets_[t], targets_[t], true)[index(Doubt::crossing)];
            }
        return parts;
    }

    // A part for each model.
    std::vector<Part> parts_of(const Hypothesis& one) const {
        const std::size_t n = points_.size();
        std::vector<double> covariance;
        for (std::size_t i = 0; i < n * n; ++i)
            covariance.push_back(one.whole(points_[i / n], points_[i % n], i / n == i % n));
        const stats::GaussianValues process(std::move(covariance), n);
        // chi square = constant + by_residual x residuals + by_product x products
        std::vector<double> shifts, by_residual(n), by_product;
        double constant = 0;
        for (const auto& point : points_) shifts.push_back(one.shift(point));
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                by_residual[i] -= 2 * process.inverse(i, j) * shifts[j];
                constant += process.inverse(i, j) * shifts[i] * shifts[j];
                if (j <= i) by_product.push_back((i == j ? 1 : 2) * process.inverse(i, j));
            }
        // A prediction is the curve + shift + sum of weight x residual.
        std::vector<double> means;
        std::vector<std::vector<double>> weights;
        std::vector<std::array<double, kDoubts>> variance(targets_.size());
        for (std::size_t t = 0; t < targets_.size(); ++t) {
            std::vector<double> with;
            for (const auto& point : points_) with.push_back(one.whole(point, targets_[t], false));
            weights.push_back(process.weights(with));
            means.push_back(one.shift(targets_[t]) - std::inner_product(shifts.begin(),
                                                                        shifts.end(),
                                                                        weights[t].begin(), 0.0));
            // Its error is a sum of independent parts.
            for (std::size_t i = 0; i <= n; ++i)
                for (std::size_t j = 0; j <= n; ++j) {
                    const auto parts = one.covariance(i < n ? points_[i] : targets_[t],
                                                      j < n ? points_[j] : targets_[t], i == j);
                    for (std::size_t k = 0; k < kDoubts; ++k)
                        variance[t][k] +=
                            (i < n ? weights[t][i] : -1) * (j < n ? weights[t][j] : -1) * parts[k];
                }
        }
        std::vector<Part> parts;
        for (std::size_t m = 0; m < kModels; ++m) {
            const auto& [count, targets, residuals, products] = curves_[m];
            std::vector<double> squares(count, constant);
            const auto add = [&](const std::vector<double>& factors,
                                 const std::vector<double>& values) {
                for (std::size_t f = 0; f < factors.size(); ++f)
                    for (std::size_t c = 0; c < count; ++c)
                        squares[c] += factors[f] * values[f * count + c];
            };
            add(by_residual, residuals);
            add(by_product, products);
            const double least = std::ranges::min(squares);
            Part part{
                .model = m, .mean = std::vector<double>(targets_.size()), .variance = variance};
            std::vector<double> mean_squares(targets_.size());
            double sum = 0;
            for (std::size_t c = 0; c < count; ++c) {
                if (squares[c] > least + 2 * kNegligible) continue;
                const double weight = std::exp((least - squares[c]) / 2);
                sum += weight;
                for (std::size_t t = 0; t < targets_.size(); ++t) {
                    double mean = targets[t * count + c] + means[t];
                    for (std::size_t i = 0; i < n; ++i)
                        mean += weights[t][i] * residuals[i * count + c];
                    part.mean[t] += weight * mean;
                    mean_squares[t] += weight * mean * mean;
                }
            }
            for (std::size_t t = 0; t < targets_.size(); ++t) {
                part.mean[t] /= sum;
                part.variance[t][index(Doubt::curve)] =
                    std::max(0.0, mean_squares[t] / sum - part.mean[t] * part.mean[t]);
            }
            part.weight = process.log_norm() - least / 2 +
                          std::log(prior_.model[m] * sum / base::real(count));
            parts.push_back(std::move(part));
        }
        return parts;
    }

    Posterior result() {
        Posterior found{.at = std::vector<Mixture>(targets_.size())};
        const double top = std::ranges::max(parts_, {}, &Part::weight).weight;
        std::erase_if(parts_, [&](const Part& part) { return part.weight < top - kNegligible; });
        double total = 0;
        for (auto& part : parts_) total += part.weight = std::exp(part.weight - top);
        for (auto& part : parts_) {
            part.weight /= total;
            found.weights[kModelList[part.model].name] += part.weight;
            found.probability[part.model][part.discrepancy][part.crossing] += part.weight;
        }
        for (std::size_t t = 0; t < targets_.size(); ++t) {
            auto& [parts, variance] = found.at[t];
            // Weight, and weight x mean, of each crossing at each place.
            std::map<std::pair<std::size_t, std::size_t>, std::array<double, 2>> crossings;
            double mean = 0, square = 0, between = 0;
            for (const auto& part : parts_) {
                const auto& own = part.variance[t];
                for (std::size_t k = 0; k < kDoubts; ++k) variance[k] += part.weight * own[k];
                parts.push_back({part.weight, first_ + part.mean[t],
                                 std::sqrt(std::accumulate(own.begin(), own.end(), 0.0))});
                mean += part.weight * part.mean[t];
                square += part.weight * part.mean[t] * part.mean[t];
                auto& [weight, sum] = crossings[{part.capacity, part.crossing}];
                weight += part.weight;
                sum += part.weight * part.mean[t];
            }
            for (const auto& [key, sums] : crossings) between += sums[1] * sums[1] / sums[0];
            variance[index(Doubt::crossing)] += between - mean * mean;
            variance[index(Doubt::curve)] += square - between;
        }
        return found;
    }

    bool strong_;
    const Prior& prior_;
    std::vector<Place> points_, targets_;
    std::vector<double> logs_;  // of the points' times, relative to the first
    double first_ = 0;          // the first one's
    std::vector<double> noises_;
    std::vector<Curves> curves_;  // by model
    std::vector<Part> parts_;
};

}  // namespace

double Mixture::quantile(double share) const {
    return std::exp(stats::mixture_quantile(parts, share));
}

stats::Interval Mixture::interval(double low, double high) const {
    return {quantile(low), quantile(high)};
}

Posterior fit(std::span<const CurvePoint> points, Scaling scaling, const Prior& prior,
              std::span<const Capacity> capacities, std::span<const double> targets) {
    return Fitter(points, scaling, prior, targets).run(capacities);
}

}  // namespace ranklab::forecast
