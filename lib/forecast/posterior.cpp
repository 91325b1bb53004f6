#include "forecast/posterior.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "base/numbers.hpp"
#include "stats/distributions.hpp"

namespace ranklab::forecast {

double CurvePoint::middle() const {
    return std::exp(mean_of_logs(times_s));
}

double mean_of_logs(std::span<const double> times) {
    double sum = 0;
    for (const double t : times) sum += std::log(t);
    return sum / base::real(times.size());
}

double squares_of_logs(std::span<const double> times) {
    const double mean = mean_of_logs(times);
    double sum = 0;
    for (const double t : times) sum += (std::log(t) - mean) * (std::log(t) - mean);
    return sum;
}

// A kind of curve. With q = ranks / ranks of the first point, time / time at the first point is the
// ideal (strong: 1/q, weak: 1) plus the model's terms, with coefficients above 0.
struct Model {
    std::string_view strong, weak;                             // names
    bool constant = false, logarithm = false, linear = false;  // terms 1 - 1/q, log q, q - 1
    bool power = false;                                        // ideal x q^k
    double strong_prior = 1, weak_prior = 1;                   // up to a common factor
};

namespace {

// In weak scaling linear terms have small priors: they fit none of the published curves best.
constexpr std::array kModels{
    Model{"Amdahl", "Gustafson", true},
    Model{"logarithmic", "logarithmic", false, true},
    Model{"USL", "USL", true, false, true, false, 1.3, 0.03},
    Model{"power law", "power law", false, false, false, true},
    Model{"constant + log p", "constant + log p", true, true, false, false, 0.5, 1},
    Model{"a + b/p + c log p + d p", "a + c log p + d p", true, true, true, false, 0.2, 0.03}};

}  // namespace

Posterior::Posterior(std::span<const CurvePoint> points, Scaling scaling, double level_begins)
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
        // The time at the first point is a parameter, too; the noise takes two more points. The
        // level takes none: its prior is narrow.
        if (points.size() < axes.size() + (level_begins_ > 0 ? 2 : 3)) continue;
        const auto found = curves_of(model, axes);
        const double noise = std::ranges::min(found, {}, &Curve::noise).noise;
        misfit_ = std::fmin(
            misfit_, (noise * freedom_ - noise_sum_) / base::real(points.size() - axes.size() - 1));
        curves_.insert(curves_.end(), found.begin(), found.end());
    }
    if (!curves_.empty()) normalise();
}

Estimate Posterior::at(double ranks, double confidence) const {
    const auto all = bins(ranks);
    return {quantile(all, 0.5),
            {quantile(all, (1 - confidence) / 2), quantile(all, (1 + confidence) / 2)}};
}

double Posterior::narrowing(double ranks, double processes, double target) const {
    const double both = covariance(ranks, target),
                 there = covariance(ranks, ranks) + noise_ / processes,
                 whole = covariance(target, target) + noise_ * share_;
    return 1 - std::sqrt(std::max(0.0, 1 - both * both / there / whole));
}

std::map<std::string_view, double> Posterior::weights() const {
    std::map<std::string_view, double> all;
    for (const auto& one : curves_)
        all[scaling_ == Scaling::strong ? one.model->strong : one.model->weak] += one.weight;
    return all;
}

Posterior::Basis Posterior::basis_at(double ranks) const {
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

std::vector<Posterior::Axis> Posterior::axes_of(const Model& model) const {
    constexpr int kSteps[] = {60, 30, 14, 9};  // of an axis, by the number of axes
    // Logarithms of fractions of the ideal time at the largest point.
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

std::vector<Posterior::Curve> Posterior::curves_of(const Model& model,
                                                   std::vector<Axis> axes) const {
    // Curves whose log weight is lower than the best one's by more than this do not count.
    constexpr double kLogSeen = 10;
    auto found = grid_of(model, axes);
    // Two finer grids, around the curves with weight.
    for (int pass = 0; pass < 2; ++pass) {
        const double least = std::ranges::max(found, {}, &Curve::weight).weight - kLogSeen;
        std::erase_if(found, [&](const Curve& one) { return one.weight <= least; });
        for (auto& axis : axes) {
            const auto [low, high] = std::ranges::minmax(found, {}, axis.coefficient);
            const double margin = 1.5 * axis.step();
            axis.low = std::max(axis.low, std::log(low.*axis.coefficient) - margin);
            axis.high = std::min(axis.high, std::log(high.*axis.coefficient) + margin);
        }
        found = grid_of(model, axes);
    }
    return found;
}

std::vector<Posterior::Curve> Posterior::grid_of(const Model& model,
                                                 const std::vector<Axis>& axes) const {
    double log_cell = std::log(scaling_ == Scaling::strong ? model.strong_prior : model.weak_prior);
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
            curve.*axis.coefficient = std::exp(axis.low + (rest % axis.steps + 0.5) * axis.step());
            rest /= axis.steps;
        }
        weigh(curve);
        curve.weight += log_cell;
        found.push_back(curve);
    }
    return found;
}

void Posterior::weigh(Curve& curve) const {
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

void Posterior::normalise() {
    constexpr double kLogDropped = 14;  // lighter curves, relative to the best, are dropped
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

double Posterior::covariance(double ranks_a, double ranks_b) const {
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

std::vector<Posterior::Bin> Posterior::bins(double ranks) const {
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

double Posterior::quantile(const std::vector<Bin>& bins, double share) const {
    constexpr double kTail = 12;  // standard deviations to search beyond the outermost bins
    const double reach = kTail * std::sqrt(std::ranges::max(bins, {}, &Bin::variance).variance);
    double low = bins.front().middle - reach, high = bins.back().middle + reach;
    for (int halving = 0; halving < 45; ++halving) {
        const double middle = (low + high) / 2;
        double below = 0;
        for (const auto& bin : bins)
            below += bin.weight *
                     stats::student_cdf((middle - bin.middle) / std::sqrt(bin.variance), freedom_);
        (below < share ? low : high) = middle;
    }
    return std::exp((low + high) / 2);
}

double Posterior::Curve::log_at(const Basis& at) const {
    const double ideal = model->power ? at.ideal * std::pow(growth, at.log_q) : at.ideal;
    const double time =
        ideal + constant * at.constant + logarithm * at.logarithm + linear * at.linear;
    return log_first + std::log(at.beyond ? time * (1 + level) : time);
}

}  // namespace ranklab::forecast
