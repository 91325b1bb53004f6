// Points of scaling curves, and what published curves teach about a curve before it is measured.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stats/summary.hpp"

namespace ranklab::forecast {

/// Strong: all ranks share a fixed amount of work. Weak: each rank has a fixed amount of its own.
enum class Scaling { strong, weak };
inline const char* name_of(Scaling scaling) {
    return scaling == Scaling::strong ? "strong" : "weak";
}

/// What is timed: training of a network, another code, or storage.
enum class Work { unknown, training, code, storage };
inline constexpr std::array<std::string_view, 4> kWorks{"unknown", "training", "code", "storage"};

/// The times of a step or job at one count of ranks (or nodes, or GPUs). A launch is one start of
/// the program.
struct CurvePoint {
    double ranks = 0;
    std::vector<double> times_s = {};  ///< above 0; one per launch, in the order measured
    int nodes = 0;                     ///< number of nodes that the ranks ran on; 0: not known
    /// Relative standard deviation of one time, if the source states it; NaN: taken from times_s.
    double deviation = stats::kNone;

    double middle() const;  ///< geometric mean of the times
};

/// By how much the logarithm of the true time strays from the best model per doubling of the ranks:
/// the standard deviations that a fit weighs against each other.
inline constexpr std::array kDiscrepancies{0.004, 0.01, 0.02, 0.04, 0.08, 0.16};
/// Logarithms of the factor by which two nodes take longer than the curve of one node says.
inline constexpr std::array kCrossings{0.0125, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8};

/// A number for each pair of the values above.
using PairTable = std::array<std::array<double, kCrossings.size()>, kDiscrepancies.size()>;

/// Probabilities of the values above, before any point is measured.
struct Prior {
    std::array<double, kDiscrepancies.size()> discrepancy{};
    std::array<double, kCrossings.size()> crossing{};
    std::size_t sources = 0;  ///< sources of the same kind with a crossing

    /// The quantile of the crossing's factor.
    double crossing_factor(double share) const;
};

/// A published curve. `source`: publication and framework; all curves of one source are related.
struct SourceCurve {
    std::string source;
    Scaling scaling = Scaling::strong;
    Work work = Work::unknown;
    std::vector<CurvePoint> points = {};
    double per_node = 0;  ///< ranks that one node holds; 0: no point is on several
};

/// Learns priors from published curves by expectation maximisation: the probability of a value is
/// its mean posterior probability over the sources.
class Sources {
  public:
    explicit Sources(const std::vector<SourceCurve>& curves);
    /// The prior for curves of this kind, without the curves of one source. Sources of other kinds
    /// count half; if `work` is unknown, sources of the same scaling are of the same kind.
    Prior prior(Scaling scaling, Work work, std::string_view without = {}) const;

  private:
    /// The likelihood of each pair of values, up to a common factor.
    struct Learned {
        Scaling scaling;
        Work work;
        bool crosses;
        PairTable likelihood;
    };
    std::map<std::string, std::vector<Learned>, std::less<>> by_source_;
};

}  // namespace ranklab::forecast
