// The curves that may go through measured points, each with its weight: a part of curve.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "base/numbers.hpp"
#include "forecast/curve.hpp"
#include "stats/interval.hpp"

namespace ranklab::forecast {

/// A kind of curve. With q = ranks / ranks of the first point, the time over that point's time is
/// the ideal (strong: 1/q, weak: 1) and its terms, with coefficients above 0.
struct Model {
    std::string_view strong, weak;                             ///< its names
    bool constant = false, logarithm = false, linear = false;  ///< 1 - 1/q, log q, q - 1
    bool power = false;                                        ///< the ideal time x q^k
    double strong_prior = 1, weak_prior = 1;  ///< how plausible before anything is measured
};
/// Overheads that grow with the number of ranks itself are rare in weak scaling: of the published
/// curves none is best described by them.
inline constexpr std::array kModels{
    Model{"Amdahl", "Gustafson", true},
    Model{"logarithmic", "logarithmic", false, true},
    Model{"USL", "USL", true, false, true, false, 1.3, 0.03},
    Model{"power law", "power law", false, false, false, true},
    Model{"constant + log p", "constant + log p", true, true, false, false, 0.5, 1},
    Model{"a + b/p + c log p + d p", "a + c log p + d p", true, true, true, false, 0.2, 0.03}};

inline double mean_of_logs(std::span<const double> times) {
    double sum = 0;
    for (const double t : times) sum += std::log(t);
    return sum / base::real(times.size());
}

/// The squares of their distances from that mean, added up.
inline double squares_of_logs(std::span<const double> times) {
    const double mean = mean_of_logs(times);
    double sum = 0;
    for (const double t : times) sum += (std::log(t) - mean) * (std::log(t) - mean);
    return sum;
}

/// A posterior over the models and their coefficients. Priors: coefficients log-uniform between
/// 3e-4 and 20 times the ideal time at the largest point (power: uniform exponent); models as
/// kModels; noise as repeated processes show it, and 2 % as if two more had shown that. The time of
/// the first point is integrated over; likelihoods are Student's, of logarithms.
class Posterior {
  public:
    /// By ascending ranks. From `level_begins` ranks on the time may be longer
    /// by one more factor; 0: nowhere.
    Posterior(std::span<const CurvePoint> points, Scaling scaling, double level_begins)
        : scaling_(scaling),
          first_(points.front().ranks),
          largest_(points.back().ranks),
          level_begins_(level_begins) {
        for (const auto& point : points) {
            const double n = base::real(point.times_s.size());
            points_.push_back({basis_at(point.ranks), mean_of_logs(point.times_s), n});
            processes_ += n;
            freedom_ += n;
            noise_sum_ += squares_of_logs(point.times_s);
            if (std::isnan(point.deviation)) continue;
            freedom_ += kStatedFreedom;
            noise_sum_ += kStatedFreedom * point.deviation * point.deviation;
        }
        share_ = (1 + base::real(points.size())) / processes_;
        for (const Model& model : kModels) {
            const auto axes = axes_of(model);
            // One more parameter is the time of the first point; two more points show the noise.
            if (points.size() < axes.size() + 3) continue;
            const auto found = curves_of(model, axes);
            const double noise = std::ranges::min(found, {}, &Curve::noise).noise;
            misfit_ = std::fmin(misfit_, (noise * freedom_ - noise_sum_) /
                                             base::real(points.size() - axes.size() - 1));
            curves_.insert(curves_.end(), found.begin(), found.end());
        }
        if (!curves_.empty()) normalise();
    }

    /// No model has enough points.
    bool empty() const { return curves_.empty(); }
    /// The median at so many ranks, and the interval of the mean of as many processes as the points
    /// have.
    Estimate at(double ranks, double confidence) const {
        const auto all = bins(ranks);
        return {quantile(all, 0.5),
                {quantile(all, (1 - confidence) / 2), quantile(all, (1 + confidence) / 2)}};
    }
    double median(double ranks) const { return quantile(bins(ranks), 0.5); }
    /// The share by which so many processes more at `ranks` would narrow the interval at `target`.
    double narrowing(double ranks, double processes, double target) const {
        const double both = covariance(ranks, target),
                     there = covariance(ranks, ranks) + noise_ / processes,
                     whole = covariance(target, target) + noise_ * share_;
        return 1 - std::sqrt(std::max(0.0, 1 - both * both / there / whole));
    }
    std::map<std::string_view, double> weights() const {
        std::map<std::string_view, double> all;
        for (const auto& one : curves_)
            all[scaling_ == Scaling::strong ? one.model->strong : one.model->weak] += one.weight;
        return all;
    }
    /// Variance of one process' logarithm around the best curve, by the points' distances from it.
    double misfit() const { return misfit_; }
    /// The logarithm of the points' likelihood over all curves, up to a constant of the points.
    /// NaN without a curve.
    double evidence() const { return evidence_; }

  private:
    /// The terms of the models at some ranks, each 1 or the ideal time at the largest point.
    struct Basis {
        double ideal = 0, constant = 0, logarithm = 0, linear = 0, log_q = 0;
        bool beyond = false;  ///< the level
    };
    struct Curve {
        const Model* model = nullptr;
        /// A term that the model lacks has 0; growth is e^k, and 1 + level the level's factor.
        double constant = 0, logarithm = 0, linear = 0, growth = 1, level = 0;
        double log_first = 0, weight = 0;
        double noise = 0;  ///< variance of the logarithm of one process' time

        /// The logarithm of the time.
        double log_at(const Basis& at) const {
            const double ideal = model->power ? at.ideal * std::pow(growth, at.log_q) : at.ideal;
            const double time =
                ideal + constant * at.constant + logarithm * at.logarithm + linear * at.linear;
            return log_first + std::log(at.beyond ? time * (1 + level) : time);
        }
    };
    struct Point {
        Basis at;
        double log_time = 0, processes = 0;
    };
    /// A coefficient, looked at in steps of its logarithm.
    struct Axis {
        double Curve::*coefficient;
        double low, high;           ///< where it is looked at
        double whole = high - low;  ///< of the prior
        int steps = 0;

        double step() const { return (high - low) / steps; }
    };
    struct Bin {
        double weight = 0, middle = 0, variance = 0;
    };

    Basis basis_at(double ranks) const {
        const double q = ranks / first_, most = largest_ / first_;
        const bool strong = scaling_ == Scaling::strong;
        const double scale = strong ? 1 / most : 1;
        return {.ideal = strong ? 1 / q : 1,
                .constant = scale * (1 - 1 / q) / (1 - 1 / most),
                .logarithm = scale * std::log(q) / std::log(most),
                .linear = scale * (q - 1) / (most - 1),
                .log_q = std::log(q),
                .beyond = level_begins_ > 0 && ranks >= level_begins_};
    }

    std::vector<Axis> axes_of(const Model& model) const {
        constexpr int kSteps[] = {60, 30, 14, 9};  // by the number of axes
        // Log-uniform, times the ideal time at the largest point.
        const double low = std::log(3e-4), high = std::log(20);
        const double most = scaling_ == Scaling::strong ? 1 : 0.7;
        std::vector<Axis> axes;
        if (model.power) axes.push_back({&Curve::growth, -0.1, most});
        if (model.constant) axes.push_back({&Curve::constant, low, high});
        if (model.logarithm) axes.push_back({&Curve::logarithm, low, high});
        if (model.linear) axes.push_back({&Curve::linear, low, high});
        if (level_begins_ > 0) axes.push_back({&Curve::level, std::log(1e-3), std::log(4)});
        for (auto& axis : axes) axis.steps = kSteps[axes.size() - 1];
        return axes;
    }

    /// A model's curves; their weights are logarithms.
    std::vector<Curve> curves_of(const Model& model, std::vector<Axis> axes) const {
        constexpr double kLogSeen = 10;  // below the best curve
        auto found = look(model, axes);
        // Twice more, closer at where there was weight.
        for (int pass = 0; pass < 2; ++pass) {
            const double least = std::ranges::max(found, {}, &Curve::weight).weight - kLogSeen;
            std::erase_if(found, [&](const Curve& one) { return one.weight <= least; });
            for (auto& axis : axes) {
                const auto [low, high] = std::ranges::minmax(found, {}, axis.coefficient);
                const double margin = 1.5 * axis.step();
                axis.low = std::max(axis.low, std::log(low.*axis.coefficient) - margin);
                axis.high = std::min(axis.high, std::log(high.*axis.coefficient) + margin);
            }
            found = look(model, axes);
        }
        return found;
    }

    std::vector<Curve> look(const Model& model, const std::vector<Axis>& axes) const {
        double log_cell =
            std::log(scaling_ == Scaling::strong ? model.strong_prior : model.weak_prior);
        int cells = 1;
        for (const auto& axis : axes) {
            log_cell += std::log(axis.step() / axis.whole);
            cells *= axis.steps;
        }
        std::vector<Curve> found;
        for (int cell = 0; cell < cells; ++cell) {
            Curve curve{.model = &model};
            int rest = cell;
            for (const auto& axis : axes) {
                curve.*axis.coefficient =
                    std::exp(axis.low + (rest % axis.steps + 0.5) * axis.step());
                rest /= axis.steps;
            }
            weigh(curve);
            curve.weight += log_cell;
            found.push_back(curve);
        }
        return found;
    }

    void weigh(Curve& curve) const {
        double sum = 0, squares = 0;
        for (const auto& point : points_) {
            const double rest = point.log_time - curve.log_at(point.at);
            sum += point.processes * rest;
            squares += point.processes * rest * rest;
        }
        curve.log_first = sum / processes_;
        const double all = noise_sum_ + std::max(0.0, squares - sum * curve.log_first);
        curve.weight = -freedom_ / 2 * std::log(all);
        curve.noise = all / freedom_;
    }

    /// From logarithms to shares, without curves that do not count.
    void normalise() {
        constexpr double kLogDropped = 14;  // below the best curve
        const double top = std::ranges::max(curves_, {}, &Curve::weight).weight;
        std::erase_if(curves_, [&](const Curve& one) { return one.weight < top - kLogDropped; });
        double total = 0;
        for (auto& curve : curves_) total += curve.weight = std::exp(curve.weight - top);
        for (auto& curve : curves_) {
            curve.weight /= total;
            noise_ += curve.weight * curve.noise;
        }
        evidence_ = top + std::log(total);
    }

    /// How the logarithms of two times vary together over the curves.
    double covariance(double ranks_a, double ranks_b) const {
        const Basis at_a = basis_at(ranks_a), at_b = basis_at(ranks_b);
        double a = 0, b = 0, both = 0;
        for (const auto& curve : curves_) {
            const double x = curve.log_at(at_a), y = curve.log_at(at_b);
            a += curve.weight * x;
            b += curve.weight * y;
            both += curve.weight * x * y;
        }
        return both - a * b;
    }

    /// Curves of nearly the same time become one.
    std::vector<Bin> bins(double ranks) const {
        const Basis at = basis_at(ranks);
        std::vector<double> logs;
        for (const auto& curve : curves_) logs.push_back(curve.log_at(at));
        const auto [low, high] = std::ranges::minmax(logs);
        std::vector<Bin> bins(150);
        const double scale = high > low ? (base::real(bins.size()) - 1) / (high - low) : 0;
        for (std::size_t i = 0; i < logs.size(); ++i) {
            auto& bin = bins[static_cast<std::size_t>((logs[i] - low) * scale)];
            bin.weight += curves_[i].weight;
            bin.middle += curves_[i].weight * logs[i];
            bin.variance += curves_[i].weight * curves_[i].noise * share_;
        }
        std::erase_if(bins, [](const Bin& bin) { return bin.weight == 0; });
        for (auto& bin : bins) {
            bin.middle /= bin.weight;
            bin.variance /= bin.weight;
        }
        return bins;
    }

    double quantile(const std::vector<Bin>& bins, double share) const {
        constexpr double kTail = 12;  // deviations
        const double reach = kTail * std::sqrt(std::ranges::max(bins, {}, &Bin::variance).variance);
        double low = bins.front().middle - reach, high = bins.back().middle + reach;
        for (int halving = 0; halving < 45; ++halving) {
            const double middle = (low + high) / 2;
            double below = 0;
            for (const auto& bin : bins)
                below +=
                    bin.weight *
                    stats::student_cdf((middle - bin.middle) / std::sqrt(bin.variance), freedom_);
            (below < share ? low : high) = middle;
        }
        return std::exp((low + high) / 2);
    }

    static constexpr double kPriorDeviation = 0.02, kPriorFreedom = 2;
    static constexpr double kStatedFreedom = 5;  ///< the weight of a stated deviation

    Scaling scaling_;
    double first_, largest_, level_begins_;
    std::vector<Point> points_;
    double processes_ = 0, freedom_ = kPriorFreedom - 1,
           noise_sum_ = kPriorFreedom * kPriorDeviation * kPriorDeviation;
    double noise_ = 0;  ///< variance of the logarithm of one process' time
    double share_ = 0;  ///< of noise_ in the mean that at() is of
    std::vector<Curve> curves_;
    double misfit_ = stats::kNone, evidence_ = stats::kNone;
};

}  // namespace ranklab::forecast
