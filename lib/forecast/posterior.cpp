#include "forecast/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/interval.hpp"

namespace ranklab::forecast {
namespace {

// Log-uniform coefficients, times the ideal time at the largest point.
const double kLeastLog = std::log(3e-4), kMostLog = std::log(20);
const double kLeastLevelLog = std::log(1e-3), kMostLevelLog = std::log(4);
constexpr double kPriorDeviation = 0.02, kPriorFreedom = 2;
constexpr double kStatedFreedom = 5;  // the weight of a deviation that the source states
constexpr int kPasses = 3;            // each looks closer at where the one before found weight
constexpr double kLogNegligible = 10, kNegligible = 1e-6;
constexpr double kBins = 150, kTail = 12;
constexpr int kHalvings = 45;

struct ModelRow {
    std::string_view strong, weak;                             // its names
    bool constant = false, logarithm = false, linear = false;  // terms beside the ideal time
    // How plausible it is before anything is measured. Overheads that grow with the number of ranks
    // itself are rare in weak scaling: of the published curves none is best described by them.
    double strong_prior = 1, weak_prior = 1;

    std::size_t coefficients() const {
        return std::max<std::size_t>(1, std::size_t{constant} + logarithm + linear);
    }
};
constexpr ModelRow kTable[kModels] = {
    {"Amdahl", "Gustafson", true, false, false},
    {"logarithmic", "logarithmic", false, true, false},
    {"USL", "USL", true, false, true, 1.3, 0.03},
    {"power law", "power law", false, false, false},
    {"constant + log p", "constant + log p", true, true, false, 0.5, 1},
    {"a + b/p + c log p + d p", "a + c log p + d p", true, true, true, 0.2, 0.03}};

const ModelRow& row_of(Model model) {
    return kTable[static_cast<std::size_t>(model)];
}

int steps_of(std::size_t dimensions) {
    constexpr std::array kSteps{60, 30, 14, 9};
    return kSteps[dimensions - 1];
}

struct Range {
    double low = 0, high = 0;
};

Range range_of(Model model, Scaling scaling) {
    if (model != Model::power) return {kLeastLog, kMostLog};
    return scaling == Scaling::strong ? Range{-0.1, 1} : Range{-0.1, 0.7};
}

}  // namespace

double mean_of_logs(std::span<const double> times) {
    double sum = 0;
    for (const double t : times) sum += std::log(t);
    return sum / static_cast<double>(times.size());
}

double squares_of_logs(std::span<const double> times) {
    const double mean = mean_of_logs(times);
    double sum = 0;
    for (const double t : times) sum += (std::log(t) - mean) * (std::log(t) - mean);
    return sum;
}

std::string_view name_of(Model model, Scaling scaling) {
    return scaling == Scaling::strong ? row_of(model).strong : row_of(model).weak;
}

std::size_t parameters_of(Model model) {
    return 1 + row_of(model).coefficients();
}

// One model's coefficients, looked at in steps that get finer.
class Grid {
  public:
    Grid(Posterior& posterior, std::span<const CurvePoint> points, Model model)
        : posterior_(posterior), model_(model) {
        for (const auto& point : points) {
            bases_.push_back(posterior.basis_at(point.ranks));
            logs_.push_back(mean_of_logs(point.times_s));
            weights_.push_back(static_cast<double>(point.times_s.size()));
            total_ += weights_.back();
        }
        const Range range = range_of(model, posterior.scaling_);
        ranges_.assign(row_of(model).coefficients(), range);
        if (posterior.level_begins_ > 0) ranges_.push_back({kLeastLevelLog, kMostLevelLog});
        whole_ = ranges_;
    }

    // The curves of the finest grid; their weights are logarithms.
    std::vector<Posterior::Curve> curves(double noise_sum, double prior) {
        std::vector<Posterior::Curve> found;
        for (int pass = 0; pass < kPasses; ++pass) {
            found = look(noise_sum, prior);
            if (pass + 1 < kPasses) narrow(found);
        }
        return found;
    }
    double least_square() const { return least_; }

  private:
    std::vector<Posterior::Curve> look(double noise_sum, double prior) {
        const int steps = steps_of(ranges_.size());
        double log_cell = std::log(prior);
        for (std::size_t i = 0; i < ranges_.size(); ++i)
            log_cell += std::log((ranges_[i].high - ranges_[i].low) /
                                 (whole_[i].high - whole_[i].low) / steps);
        std::vector<Posterior::Curve> found;
        std::vector<int> at(ranges_.size(), 0);
        for (std::size_t moved = 0; moved < at.size();) {
            Posterior::Curve curve{.model = model_};
            for (std::size_t i = 0; i < at.size(); ++i)
                curve.coefficients[i] = value(
                    i, ranges_[i].low + (at[i] + 0.5) * (ranges_[i].high - ranges_[i].low) / steps);
            weigh(curve, noise_sum, log_cell);
            found.push_back(curve);
            for (moved = 0; moved < at.size() && ++at[moved] == steps; ++moved) at[moved] = 0;
        }
        return found;
    }

    void weigh(Posterior::Curve& curve, double noise_sum, double log_cell) {
        double sum = 0, squares = 0;
        for (std::size_t i = 0; i < bases_.size(); ++i) {
            const double rest = logs_[i] - Posterior::log_shape(curve, bases_[i]);
            sum += weights_[i] * rest;
            squares += weights_[i] * rest * rest;
        }
        curve.log_first = sum / total_;
        const double square = std::max(0.0, squares - sum * curve.log_first);
        least_ = std::min(least_, square);
        const double all = noise_sum + square;
        curve.weight = log_cell - posterior_.freedom_ / 2 * std::log(all);
        curve.noise = all / posterior_.freedom_;
    }

    void narrow(const std::vector<Posterior::Curve>& found) {
        const double top = std::ranges::max_element(found, {}, &Posterior::Curve::weight)->weight;
        for (std::size_t i = 0; i < ranges_.size(); ++i) {
            const double step = (ranges_[i].high - ranges_[i].low) / steps_of(ranges_.size());
            Range seen{std::numeric_limits<double>::infinity(),
                       -std::numeric_limits<double>::infinity()};
            for (const auto& curve : found)
                if (curve.weight > top - kLogNegligible)
                    seen = {std::min(seen.low, place(i, curve.coefficients[i])),
                            std::max(seen.high, place(i, curve.coefficients[i]))};
            ranges_[i] = {std::max(ranges_[i].low, seen.low - 1.5 * step),
                          std::min(ranges_[i].high, seen.high + 1.5 * step)};
        }
    }

    // A range is of logarithms, but for an exponent.
    bool is_exponent(std::size_t i) const { return model_ == Model::power && i == 0; }
    double value(std::size_t i, double place) const {
        return is_exponent(i) ? place : std::exp(place);
    }
    double place(std::size_t i, double value) const {
        return is_exponent(i) ? value : std::log(value);
    }

    Posterior& posterior_;
    Model model_;
    std::vector<Posterior::Basis> bases_;
    std::vector<double> logs_, weights_;
    double total_ = 0;
    std::vector<Range> ranges_, whole_;
    double least_ = std::numeric_limits<double>::infinity();
};

Posterior::Posterior(std::span<const CurvePoint> points, Scaling scaling, double level_begins)
    : scaling_(scaling),
      first_(points.front().ranks),
      largest_(points.back().ranks),
      level_begins_(level_begins) {
    double noise_sum = kPriorFreedom * kPriorDeviation * kPriorDeviation, processes = 0;
    freedom_ = kPriorFreedom + static_cast<double>(points.size()) - 1;
    for (const auto& point : points) {
        const auto n = static_cast<double>(point.times_s.size());
        processes += n;
        freedom_ += n - 1;
        noise_sum += squares_of_logs(point.times_s);
        if (std::isnan(point.deviation)) continue;
        freedom_ += kStatedFreedom;
        noise_sum += kStatedFreedom * point.deviation * point.deviation;
    }
    const auto count = static_cast<double>(points.size());
    of_first_ = 1 / processes;
    of_mean_ = count / processes;

    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < kModels; ++i) {
        const auto model = static_cast<Model>(i);
        const std::size_t parameters = parameters_of(model) + (level_begins_ > 0 ? 1 : 0);
        if (points.size() < parameters + 2) continue;
        Grid grid(*this, points, model);
        const double prior =
            scaling == Scaling::strong ? kTable[i].strong_prior : kTable[i].weak_prior;
        const auto found = grid.curves(noise_sum, prior);
        curves_.insert(curves_.end(), found.begin(), found.end());
        least = std::min(least, grid.least_square() / (count - static_cast<double>(parameters)));
    }
    misfit_ = least;
    if (!curves_.empty()) normalise();
}

void Posterior::normalise() {
    const double top = std::ranges::max_element(curves_, {}, &Curve::weight)->weight;
    double total = 0;
    for (auto& curve : curves_) total += curve.weight = std::exp(curve.weight - top);
    evidence_ = top + std::log(total);
    for (auto& curve : curves_) {
        curve.weight /= total;
        weights_[static_cast<std::size_t>(curve.model)] += curve.weight;
        noise_ += curve.weight * curve.noise;
    }
    const double least =
        std::ranges::max_element(curves_, {}, &Curve::weight)->weight * kNegligible;
    std::erase_if(curves_, [&](const Curve& curve) { return curve.weight < least; });
}

Posterior::Basis Posterior::basis_at(double ranks) const {
    const double q = ranks / first_, most = largest_ / first_;
    const bool strong = scaling_ == Scaling::strong;
    const double scale = strong ? 1 / most : 1;
    return {.log_q = std::log(q),
            .ideal = strong ? 1 / q : 1,
            .constant = scale * (1 - 1 / q) / (1 - 1 / most),
            .logarithm = scale * std::log(q) / std::log(most),
            .linear = scale * (q - 1) / (most - 1),
            .beyond = level_begins_ > 0 && ranks >= level_begins_};
}

double Posterior::log_shape(const Curve& curve, const Basis& at) {
    const ModelRow& model = row_of(curve.model);
    const double* next = curve.coefficients.data();
    double time = at.ideal;
    if (curve.model == Model::power) time *= std::exp(*next++ * at.log_q);
    if (model.constant) time += *next++ * at.constant;
    if (model.logarithm) time += *next++ * at.logarithm;
    if (model.linear) time += *next++ * at.linear;
    return std::log(at.beyond ? time * (1 + *next) : time);
}

std::vector<Posterior::Bin> Posterior::bins(double ranks) const {
    const Basis at = basis_at(ranks);
    std::vector<Bin> all;
    for (const auto& curve : curves_)
        all.push_back({curve.weight, log_time(curve, at), curve.noise * (of_first_ + of_mean_)});
    std::ranges::sort(all, {}, &Bin::middle);
    const double step = (all.back().middle - all.front().middle) / kBins;
    std::vector<Bin> bins;
    double end = -std::numeric_limits<double>::infinity();
    for (const auto& one : all) {
        if (one.middle > end) {
            bins.emplace_back();
            end = one.middle + step;
        }
        auto& bin = bins.back();
        const double weight = bin.weight + one.weight, share = one.weight / weight;
        bin = {weight, bin.middle + share * (one.middle - bin.middle),
               bin.variance + share * (one.variance - bin.variance)};
    }
    return bins;
}

double Posterior::quantile(std::span<const Bin> bins, double share) const {
    double low = std::numeric_limits<double>::infinity(), high = -low, total = 0;
    for (const auto& bin : bins) {
        const double reach = kTail * std::sqrt(bin.variance);
        low = std::min(low, bin.middle - reach);
        high = std::max(high, bin.middle + reach);
        total += bin.weight;
    }
    for (int i = 0; i < kHalvings; ++i) {
        const double middle = (low + high) / 2;
        double below = 0;
        for (const auto& bin : bins)
            below += bin.weight *
                     stats::student_cdf((middle - bin.middle) / std::sqrt(bin.variance), freedom_);
        (below < share * total ? low : high) = middle;
    }
    return std::exp((low + high) / 2);
}

double Posterior::median(double ranks) const {
    return quantile(bins(ranks), 0.5);
}

stats::Interval Posterior::interval(double ranks, double confidence) const {
    const auto all = bins(ranks);
    return {quantile(all, (1 - confidence) / 2), quantile(all, (1 + confidence) / 2)};
}

double Posterior::covariance(double ranks_a, double ranks_b) const {
    const Basis at_a = basis_at(ranks_a), at_b = basis_at(ranks_b);
    double total = 0, mean_a = 0, mean_b = 0, product = 0;
    for (const auto& curve : curves_) {
        const double a = log_time(curve, at_a), b = log_time(curve, at_b);
        total += curve.weight;
        mean_a += curve.weight * a;
        mean_b += curve.weight * b;
        product += curve.weight * a * b;
    }
    return product / total - mean_a / total * (mean_b / total);
}

}  // namespace ranklab::forecast
