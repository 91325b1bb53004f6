#include "forecast/points.hpp"

#include <cmath>

#include "base/numbers.hpp"

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

}  // namespace ranklab::forecast
