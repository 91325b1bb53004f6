#include "forecast/curve.hpp"

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "stats/interval.hpp"

namespace ranklab::forecast {
namespace {

constexpr double kMostDeviation = 0.15;  // processes of one point, and points from a curve
constexpr double kMostSpread = 4;        // a point's processes, over those of most points
const double kSureJump = std::log(8);    // so much likelier than curves without it
constexpr double kLeastMisfit = 0.02;    // a smaller one is not refused, however sure
constexpr double kUnlikely = 0.999;      // a test that refuses says so surely
constexpr double kHeldOutConfidence = 0.99;
constexpr double kRepeats = 3;       // processes of a further point
constexpr double kWorthIt = 0.1;     // a share of the interval
constexpr double kSlowFirst = 0.03;  // slower first processes are warm-up from here on

struct Pooled {
    double variance = 0, freedom = 0;
};

// The logarithms of the times at one number of ranks, but for the first `skipped` of each.
Pooled pooled(const std::vector<CurvePoint>& points, std::size_t skipped) {
    Pooled all;
    for (const auto& point : points) {
        if (point.times_s.size() < skipped + 2) continue;
        const auto times = std::span(point.times_s).subspan(skipped);
        all.variance += squares_of_logs(times);
        all.freedom += base::real(times.size() - 1);
    }
    if (all.freedom > 0) all.variance /= all.freedom;
    return all;
}

// Whether the first process of the points is slower than the others, by more than these differ.
bool has_warm_up(const std::vector<CurvePoint>& points) {
    const Pooled others = pooled(points, 1);
    double sum = 0, variance = 0, count = 0;
    for (const auto& point : points) {
        const auto rest = std::span(point.times_s).subspan(1);
        if (rest.size() < 2) continue;
        sum += std::log(point.times_s.front()) - mean_of_logs(rest);
        variance += others.variance * (1 + 1 / base::real(rest.size()));
        count += 1;
    }
    if (others.freedom < 2 || sum < kSlowFirst * count) return false;
    return sum > stats::student_quantile(kUnlikely, others.freedom) * std::sqrt(variance);
}

// Whether the processes of some point differ much more than those of most points, or all do.
bool contradict(const std::vector<CurvePoint>& points) {
    std::vector<double> spreads;
    for (const auto& point : points)
        if (point.times_s.size() > 1) {
            const auto [least, most] = std::ranges::minmax(point.times_s);
            spreads.push_back(std::log(most / least));
        }
    if (spreads.size() < 2) return false;
    const double most = std::ranges::max(spreads);
    return std::sqrt(pooled(points, 0).variance) > kMostDeviation ||
           (most > kMostDeviation && most > kMostSpread * stats::quantile(spreads, 0.5));
}

// The least ranks on several nodes where at least two points are on one node, and two on several.
double level_of(std::span<const CurvePoint> points) {
    const auto beyond = [](const CurvePoint& one) { return one.nodes > 1; };
    const auto first = std::ranges::find_if(points, beyond);
    return first - points.begin() >= 2 && points.end() - first >= 2 ? first->ranks : 0;
}

// No value where no model has enough points.
std::optional<Posterior> posterior_of(std::span<const CurvePoint> points, Scaling scaling) {
    if (points.size() < 2) return std::nullopt;
    Posterior found(points, scaling, level_of(points));
    return found.empty() ? std::nullopt : std::optional(std::move(found));
}

// Whether the points lie farther from the best curve than their processes differ.
bool misfits(const Posterior& posterior, const std::vector<CurvePoint>& points) {
    if (posterior.misfit() > kMostDeviation * kMostDeviation) return true;
    const Pooled within = pooled(points, 0);
    if (within.freedom < 3 || posterior.misfit() < kLeastMisfit * kLeastMisfit) return false;
    const double free = std::max(1.0, static_cast<double>(points.size()) - 3);
    return posterior.misfit() * free >
           within.variance * stats::chi_square_quantile(kUnlikely, free) * within.freedom /
               stats::chi_square_quantile(0.05, within.freedom);
}

}  // namespace

CurveFit::CurveFit(std::vector<CurvePoint> points, Scaling scaling, double node_holds)
    : points_(std::move(points)), scaling_(scaling), node_holds_(node_holds) {
    std::ranges::sort(points_, {}, &CurvePoint::ranks);
    posterior_ = posterior_of(points_, scaling_);
    refusal_ = found_in_points();
}

Refusal CurveFit::found_in_points() {
    if (points_.size() < kFewestPoints || !posterior_) return Refusal::too_few_points;
    if (has_warm_up(points_)) return Refusal::warm_up_inside;
    if (contradict(points_)) return Refusal::repeats_contradict;
    const bool misses = misses_largest();
    if (jumps()) return Refusal::jump;
    if (misfits(*posterior_, points_)) return Refusal::misfit;
    return misses ? Refusal::held_out_missed : Refusal::none;
}

// Where the others are too few to know a level, nothing is forecast.
bool CurveFit::misses_largest() {
    const auto& largest = points_.back();
    const auto rest = std::span<const CurvePoint>(points_).first(points_.size() - 1);
    if (level_of(points_) > 0 && level_of(rest) == 0) return false;
    const auto others = posterior_of(rest, scaling_);
    if (!others) return false;
    held_out_ = others->at(largest.ranks, kHeldOutConfidence);
    const auto& [low, high] = held_out_->interval;
    return largest.middle() < low || largest.middle() > high;
}

// Whether curves with a jump are far likelier; one that the nodes explain is in all curves.
bool CurveFit::jumps() {
    if (level_of(points_) > 0) return false;
    double likeliest = posterior_->evidence() + kSureJump;
    for (std::size_t i = 2; i + 2 <= points_.size(); ++i) {
        const Posterior with(points_, scaling_, points_[i].ranks);
        if (with.empty() || !(with.evidence() > likeliest)) continue;
        likeliest = with.evidence();
        jump_at_ = points_[i].ranks;
    }
    return jump_at_ > 0;
}

bool CurveFit::leaves_the_node(double ranks) const {
    const auto beyond = std::ranges::count_if(points_, [](auto& one) { return one.nodes > 1; });
    const auto inside = std::ranges::count_if(points_, [](auto& one) { return one.nodes == 1; });
    if (beyond >= 2 || inside == 0) return false;
    return beyond == 1 || ranks > std::max(node_holds_, points_.back().ranks);
}

CurveForecast CurveFit::forecast(double ranks) const {
    CurveForecast result{.ranks = ranks, .refusal = refusal_};
    if (posterior_) result.estimate = posterior_->at(ranks, stats::kConfidence);
    if (result.refusal != Refusal::none) return result;
    if (leaves_the_node(ranks))
        result.refusal = Refusal::one_node;
    else if (ranks > kReach * points_.back().ranks)
        result.refusal = Refusal::beyond_reach;
    return result;
}

std::vector<double> CurveFit::mended_by(const CurveForecast& refused) const {
    double above = points_.back().ranks;
    std::size_t count = 2;
    std::vector<double> ranks;
    switch (refused.refusal) {
        case Refusal::beyond_reach:
            return {std::ceil(refused.ranks / kReach)};
        case Refusal::too_few_points:
            count = kFewestPoints - std::min(points_.size(), kFewestPoints - 1);
            break;
        case Refusal::one_node:
            above = std::max(node_holds_, above);
            break;
        case Refusal::jump:
            above = jump_at_;
            break;
        case Refusal::held_out_missed:
            break;
        default:
            for (const auto& point : points_) ranks.push_back(point.ranks);
            return ranks;
    }
    for (; count > 0; --count) ranks.push_back(above *= 2);
    return ranks;
}

std::optional<NextPoint> CurveFit::next(double target) const {
    // The measured ones again, and powers of two from the largest on.
    std::vector<NextPoint> all;
    for (const auto& point : points_) all.push_back({point.ranks});
    const double largest = points_.back().ranks;
    for (double ranks = 2 * largest; ranks <= kReach * largest; ranks *= 2) all.push_back({ranks});
    double enough = kWorthIt;  // or half as much as the best one
    for (auto& one : all) {
        one.narrowing = posterior_->narrowing(one.ranks, kRepeats, target);
        enough = std::max(enough, one.narrowing / 2);
    }
    std::erase_if(all, [&](const NextPoint& one) {
        return one.ranks >= target || one.narrowing < enough;
    });
    if (all.empty()) return std::nullopt;
    return *std::ranges::max_element(all, {}, [&](const NextPoint& one) {
        return one.narrowing / (one.ranks * forecast(one.ranks).estimate.time_s);
    });
}

}  // namespace ranklab::forecast
