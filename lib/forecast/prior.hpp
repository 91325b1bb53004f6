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

/// What a fit integrates over, and the values that it weighs against each other: m, if the cost of
/// working together grows with ranks^m; by how much the logarithm of the true time strays from the
/// model per doubling of the ranks; the logarithm of the factor by which two nodes take longer.
inline constexpr std::size_t kGrowth = 0, kDiscrepancy = 1, kCrossing = 2;
inline const std::array<std::vector<double>, 3> kValues{
    {{-4, -1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75},
     {0.004, 0.01, 0.02, 0.04, 0.08, 0.16},
     {0.0125, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8}}};

/// Probabilities of kValues.
struct Prior {
    std::array<std::vector<double>, kValues.size()> of;
    std::size_t sources = 0;  ///< of the same kind, whose curves have a crossing

    /// The quantile of the factor by which two nodes take longer.
    double crossing_factor(double share) const;
};

/// A measured or published curve.
struct ScalingCurve {
    Scaling scaling = Scaling::strong;
    Work work = Work::unknown;
    std::vector<CurvePoint> points = {};  ///< ascending in ranks
    double per_node = 0;      ///< ranks that one node holds; 0: as the points say, or not known
    std::string source = {};  ///< publication and framework; all curves of one source are related
};

/// Learns priors from published curves: a value's mean posterior probability over the sources.
class Sources {
  public:
    explicit Sources(const std::vector<ScalingCurve>& curves);
    /// The prior for curves of this kind, without the curves of one source. Curves of other kinds
    /// count half; if `work` is unknown, those of the same scaling are of the same kind.
    Prior prior(Scaling scaling, Work work, std::string_view without = {}) const;

  private:
    struct Learned {
        Scaling scaling;
        Work work;
        bool crosses;
        Prior posterior;
    };
    std::map<std::string, std::vector<Learned>, std::less<>> by_source_;
};

}  // namespace ranklab::forecast
