#include "forecast/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>

#include "base/numbers.hpp"
#include "stats/interval.hpp"

namespace ranklab::forecast {
namespace {

constexpr double kPriorDeviation = 0.02, kPriorFreedom = 2;
constexpr double kStatedFreedom = 5;  // the weight of a deviation that the source states
constexpr int kPasses = 3;            // each looks closer at where the one before found weight
constexpr int kSteps[] = {60, 30, 14, 9};  // an axis, by their number
constexpr double kLogSeen = 10, kLogDropped = 14;  // below the best curve
constexpr std::size_t kBins = 150;
constexpr double kTail = 12;  // deviations
constexpr int kHalvings = 45;

}  // namespace

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

double CurvePoint::middle() const {
    return std::exp(mean_of_logs(times_s));
}

// A coefficient, looked at in steps of its logarithm.
struct Posterior::Axis {
    double Curve::*coefficient;
    double low, high;            // where it is looked at
    double whole = high - low;   // of the prior
    int steps = 0;

    double step() const { return (high - low) / steps; }
};

Posterior::Posterior(std::span<const CurvePoint> points, Scaling scaling, double level_begins)
    : scaling_(scaling),
      first_(points.front().ranks),
      largest_(points.back().ranks),
      level_begins_(level_begins),
      freedom_(kPriorFreedom - 1),
      noise_sum_(kPriorFreedom * kPriorDeviation * kPriorDeviation) {
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
        const std::size_t parameters = model.parameters() + (level_begins_ > 0 ? 1 : 0);
        if (points.size() < parameters + 2) continue;
        const auto found = curves_of(model);
        const double noise = std::ranges::min_element(found, {}, &Curve::noise)->noise;
        misfit_ = std::fmin(misfit_, (noise * freedom_ - noise_sum_) /
                                         base::real(points.size() - parameters));
        curves_.insert(curves_.end(), found.begin(), found.end());
    }
    if (!curves_.empty()) normalise();
}

std::vector<Posterior::Axis> Posterior::axes_of(const Model& model) const {
    // Log-uniform, times the ideal time at the largest point.
    const double low = std::log(3e-4), high = std::log(20);
    std::vector<Axis> axes;
    if (model.power) axes.push_back({&Curve::growth, -0.1, scaling_ == Scaling::strong ? 1 : 0.7});
    if (model.constant) axes.push_back({&Curve::constant, low, high});
    if (model.logarithm) axes.push_back({&Curve::logarithm, low, high});
    if (model.linear) axes.push_back({&Curve::linear, low, high});
    if (level_begins_ > 0) axes.push_back({&Curve::level, std::log(1e-3), std::log(4)});
    for (auto& axis : axes) axis.steps = kSteps[axes.size() - 1];
    return axes;
}

std::vector<Posterior::Curve> Posterior::curves_of(const Model& model) const {
    auto axes = axes_of(model);
    auto found = look(model, axes);
    for (int pass = 1; pass < kPasses; ++pass) {
        const double top = std::ranges::max_element(found, {}, &Curve::weight)->weight;
        for (auto& axis : axes) {
            const auto [low, high] = std::ranges::minmax(
                found | std::views::filter([&](const Curve& one) {
                    return one.weight > top - kLogSeen;
                }) |
                std::views::transform(axis.coefficient));
            const double margin = 1.5 * axis.step();
            axis.low = std::max(axis.low, std::log(low) - margin);
            axis.high = std::min(axis.high, std::log(high) + margin);
        }
        found = look(model, axes);
    }
    return found;
}

std::vector<Posterior::Curve> Posterior::look(const Model& model,
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
        const double rest = point.log_time - log_shape(curve, point.at);
        sum += point.processes * rest;
        squares += point.processes * rest * rest;
    }
    curve.log_first = sum / processes_;
    const double all = noise_sum_ + std::max(0.0, squares - sum * curve.log_first);
    curve.weight = -freedom_ / 2 * std::log(all);
    curve.noise = all / freedom_;
}

void Posterior::normalise() {
    const double top = std::ranges::max_element(curves_, {}, &Curve::weight)->weight;
    std::erase_if(curves_, [&](const Curve& one) { return one.weight < top - kLogDropped; });
    double total = 0;
    for (auto& curve : curves_) total += curve.weight = std::exp(curve.weight - top);
    evidence_ = top + std::log(total);
    for (auto& curve : curves_) {
        curve.weight /= total;
        weights_[static_cast<std::size_t>(curve.model - kModels.data())] += curve.weight;
        noise_ += curve.weight * curve.noise;
    }
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

double Posterior::log_shape(const Curve& curve, const Basis& at) {
    const double ideal = curve.model->power ? at.ideal * std::pow(curve.growth, at.log_q) : at.ideal;
    const double time = ideal + curve.constant * at.constant + curve.logarithm * at.logarithm +
                        curve.linear * at.linear;
    return std::log(at.beyond ? time * (1 + curve.level) : time);
}

// Curves of nearly the same time become one.
std::vector<Posterior::Bin> Posterior::bins(double ranks) const {
    const Basis at = basis_at(ranks);
    std::vector<double> times;
    for (const auto& curve : curves_) times.push_back(log_time(curve, at));
    const auto [low, high] = std::ranges::minmax(times);
    std::vector<Bin> bins(kBins);
    for (std::size_t i = 0; i < times.size(); ++i) {
        const double place = high > low ? (times[i] - low) / (high - low) : 0;
        auto& bin = bins[static_cast<std::size_t>(place * (kBins - 1))];
        const auto& curve = curves_[i];
        bin.weight += curve.weight;
        bin.middle += curve.weight * times[i];
        bin.variance += curve.weight * curve.noise * share_;
    }
    std::erase_if(bins, [](const Bin& bin) { return bin.weight == 0; });
    for (auto& bin : bins) {
        bin.middle /= bin.weight;
        bin.variance /= bin.weight;
    }
    return bins;
}

double Posterior::quantile(const std::vector<Bin>& bins, double share) const {
    const double reach =
        kTail * std::sqrt(std::ranges::max_element(bins, {}, &Bin::variance)->variance);
    double low = bins.front().middle - reach, high = bins.back().middle + reach;
    for (int i = 0; i < kHalvings; ++i) {
        const double middle = (low + high) / 2;
        double below = 0;
        for (const auto& bin : bins)
            below += bin.weight *
                     stats::student_cdf((middle - bin.middle) / std::sqrt(bin.variance), freedom_);
        (below < share ? low : high) = middle;
    }
    return std::exp((low + high) / 2);
}

Estimate Posterior::at(double ranks, double confidence) const {
    const auto all = bins(ranks);
    return {quantile(all, 0.5),
            {quantile(all, (1 - confidence) / 2), quantile(all, (1 + confidence) / 2)}};
}

double Posterior::narrowing(double ranks, double processes, double target) const {
    const Basis at_ranks = basis_at(ranks), at_target = basis_at(target);
    double a = 0, b = 0, aa = 0, bb = 0, ab = 0;
    for (const auto& curve : curves_) {
        const double x = log_time(curve, at_ranks), y = log_time(curve, at_target);
        a += curve.weight * x;
        b += curve.weight * y;
        aa += curve.weight * x * x;
        bb += curve.weight * y * y;
        ab += curve.weight * x * y;
    }
    const double both = ab - a * b, there = aa - a * a + noise_ / processes,
                 whole = bb - b * b + noise_ * share_;
    return 1 - std::sqrt(std::max(0.0, 1 - both * both / there / whole));
}

}  // namespace ranklab::forecast
