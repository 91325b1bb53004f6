// The numbers of a scaling section for a proposal: both figures of efficiency at each point of a
// curve, and what computing centres ask for.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "report/model/published_curves.hpp"
#include "report/model/scaling.hpp"
#include "results/result_file.hpp"

namespace ranklab::report::model {

/// A point of a curve. n: its cores or GPUs, where they are not known its ranks; T: its time; w:
/// its work over the base's (1 in strong scaling). Intervals are those between runs.
struct ScaledPoint {
    std::size_t group = 0;
    double width = 0, n = 0, work = 1;
    std::size_t nodes = 0;
    Estimate time = {};  ///< of a step, or of a job
    /// Over the base: the rate w T(base) / T, and that per core or GPU, w T(base) n(base) / (T n).
    /// NaN efficiency: ScalingRow's doubts say why.
    stats::RatioEstimate speedup = {1, {}}, efficiency = {1, {}};
    /// The rate over that of the next point below with fewer n, (w2/w1 T1/T2)^(1/log2(n2/n1)):
    /// ideal 2. NaN: there is no such point.
    stats::RatioEstimate per_doubling = {};
};
/// In the order of the curve, the base first. `file` is that of the runs.
std::vector<ScaledPoint> points_of(const Groups& groups, const results::ResultFile& file,
                                   const Scaling& scaling, const Curve& curve, bool weak);

struct ScaledCurve {
    std::string title;
    bool weak = false;
    std::vector<ScaledPoint> points;
};
/// Those over ranks, first of strong, then of weak scaling. OptionError where there are none.
std::vector<ScaledCurve> curves_over_ranks(const Groups& groups, const results::ResultFile& file);

/// The figure for which a centre has a threshold.
enum class Asks { nothing, efficiency_over_base, speedup_per_doubling };

/// A centre and its page: the demands on a scaling section.
struct Centre {
    std::string name = {}, title = {};
    Asks asks = Asks::nothing;
    double threshold = stats::kNone;
    std::size_t node_counts = 0;  ///< how many different ones; 0: the page does not say
    std::string base = {}, unit = {}, says = {}, url = {};
};
/// Reads it from configs/centres.ini, which describes the keys. OptionError where the file lacks
/// the name or is not as described; EnvironmentError where `path` is empty.
Centre centre_of(const std::filesystem::path& path, const std::string& name);

/// The largest scale of the curve up to which each point reaches the centre's threshold (without
/// one: the last point), and whether its interval does: Verdict::reaches, ...
struct Reach {
    std::size_t point = 0;
    Verdict verdict = Verdict::no_threshold;
    stats::RatioEstimate figure = {};  ///< the one that the centre asks for
};
Reach reach_of(const std::vector<ScaledPoint>& points, const Centre& centre);

/// The user's points among those of published curves of the same kind at the same n / n(base),
/// both on one node or both on several: a row a point. Left out are curves without communication,
/// contradictory ones, and those that may be on one node or several.
Frame placed_among(const std::vector<PublishedCurve>& published,
                   const std::vector<ScaledCurve>& curves);

}  // namespace ranklab::report::model
