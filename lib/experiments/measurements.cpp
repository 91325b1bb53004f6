#include "experiments/measurements.hpp"

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

}  // namespace ranklab::experiments
