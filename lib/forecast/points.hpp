// Measured points of a scaling curve, and an estimate on it.
#pragma once

#include <span>
#include <vector>

#include "stats/summary.hpp"

namespace ranklab::forecast {

/// Strong: all ranks share one work. Weak: each rank has its own.
enum class Scaling { strong, weak };
inline const char* name_of(Scaling scaling) {
    return scaling == Scaling::strong ? "strong" : "weak";
}

/// The times of a step or job at one rank count. (Ranks may stand for nodes or GPUs.)
struct CurvePoint {
    double ranks = 0;
    std::vector<double> times_s = {};  ///< above 0; one per process, in the order measured
    int nodes = 0;                     ///< that the ranks were on; 0: not known
    /// Relative standard deviation of one time, if the source states it; NaN: taken from times_s.
    double deviation = stats::kNone;

    double middle() const;  ///< geometric mean of the times
};

struct Estimate {
    double time_s = stats::kNone;
    stats::Interval interval = {};
};

double mean_of_logs(std::span<const double> times);
/// Sum of the squared deviations of the logarithms from their mean.
double squares_of_logs(std::span<const double> times);

}  // namespace ranklab::forecast
