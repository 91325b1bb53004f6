#include "experiments/shared/measurements.hpp"

namespace ranklab::experiments {

using measure::RankSamples;
using results::Kind;

results::Measurement by_rank(const std::string& name, const std::string& unit, Kind kind,
                             const std::string& axis, const RankSamples& all, std::size_t warmup) {
    const RankSamples counted = all.rows_from(warmup, all.rows());
    return {.name = name,
            .unit = unit,
            .kind = kind,
            .rank_reduction = "max",
            .axis = axis,
            .columns = all.ranks,
            .samples = counted.values,
            .warmup = all.rows_from(0, warmup).values,
            .summary = stats::summarise(counted.max_over_ranks())};
}

results::Measurement one_column(const std::string& name, const std::string& unit, Kind kind,
                                const std::string& axis, const std::string& reduction,
                                std::vector<double> samples) {
    results::Measurement m{.name = name,
                           .unit = unit,
                           .kind = kind,
                           .rank_reduction = reduction,
                           .axis = axis,
                           .columns = 1,
                           .samples = std::move(samples),
                           .warmup = {},
                           .summary = {}};
    m.summary = stats::summarise(m.samples);
    return m;
}

results::Measurement rate(const std::string& name, const std::string& unit, const std::string& axis,
                          const std::vector<double>& counts, const std::vector<double>& costs) {
    results::Measurement m{.name = name,
                           .unit = unit,
                           .kind = Kind::rate,
                           .rank_reduction = "sum",
                           .axis = axis,
                           .columns = 1,
                           .samples = {},
                           .warmup = {},
                           .summary = stats::summarise_rate(counts, costs)};
    for (std::size_t i = 0; i < costs.size(); ++i) m.samples.push_back(counts[i] / costs[i]);
    return m;
}

}  // namespace ranklab::experiments
