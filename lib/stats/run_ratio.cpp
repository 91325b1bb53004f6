#include "stats/run_ratio.hpp"

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "stats/distributions.hpp"

namespace ranklab::stats {
namespace {

struct Logs {
    double n = 0, mean = 0, squared_error = 0;  ///< of the mean
};

Logs logs_of(std::span<const double> values) {
    Logs logs{base::real(values.size())};
    for (const double value : values) logs.mean += std::log(value) / logs.n;
    double squares = 0;
    for (const double value : values) squares += std::pow(std::log(value) - logs.mean, 2);
    logs.squared_error = squares / (logs.n - 1) / logs.n;
    return logs;
}

double welch_degrees(const Logs& a, const Logs& b) {
    const auto part = [](const Logs& side) { return side.squared_error * side.squared_error / (side.n - 1); };
    return std::pow(a.squared_error + b.squared_error, 2) / (part(a) + part(b));
}

bool all_positive(std::span<const double> values) {
    return std::ranges::all_of(values, [](double value) { return value > 0 && std::isfinite(value); });
}

}  // namespace

RatioEstimate run_ratio(std::span<const double> numerator, std::span<const double> denominator) {
    RatioEstimate estimate{quantile(numerator, 0.5) / quantile(denominator, 0.5), {}};
    const bool enough = std::min(numerator.size(), denominator.size()) >= kFewestForRunRatio;
    if (!enough || !all_positive(numerator) || !all_positive(denominator)) return estimate;
    const Logs a = logs_of(numerator), b = logs_of(denominator);
    const double error = std::sqrt(a.squared_error + b.squared_error);
    const double half = error > 0 ? error * student_quantile(0.975, welch_degrees(a, b)) : 0;
    estimate.ci = {std::min(estimate.ratio, std::exp(a.mean - b.mean - half)),
                   std::max(estimate.ratio, std::exp(a.mean - b.mean + half))};
    return estimate;
}

}  // namespace ranklab::stats
