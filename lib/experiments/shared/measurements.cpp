#include "experiments/shared/measurements.hpp"

#include <algorithm>

#include "results/vocabulary/measurements.hpp"

namespace ranklab::experiments {

using measure::RankSamples;

namespace {

// For samples that are kept: what is wanted of them alone is reduced over ranks, and never gathered
// (measure::largest_of_ranks).
std::vector<double> largest_of_rows(const RankSamples& samples) {
    std::vector<double> largest;
    for (auto row = samples.values.begin(); row != samples.values.end();
         row += static_cast<std::ptrdiff_t>(samples.ranks))
        largest.push_back(*std::max_element(row, row + static_cast<std::ptrdiff_t>(samples.ranks)));
    return largest;
}

}  // namespace

results::Measurement measurement_of(std::string_view name, const std::string& axis,
                                    const std::string& reduction, std::size_t columns) {
    const auto& quantity = vocabulary::quantity(name);
    results::Measurement m;
    m.name = name;
    m.unit = quantity.unit;
    m.kind = quantity.kind;
    m.rank_reduction = reduction;
    m.axis = axis;
    m.columns = columns;
    return m;
}

results::Measurement by_rank(std::string_view name, const std::string& axis, const RankSamples& all,
                             std::size_t warmup) {
    const RankSamples counted = all.rows_from(warmup, all.rows());
    auto m = measurement_of(name, axis, "max", all.ranks);
    m.samples = counted.values;
    m.warmup = all.rows_from(0, warmup).values;
    m.summary = stats::summarise(largest_of_rows(counted));
    return m;
}

results::Measurement one_column(std::string_view name, const std::string& axis, const std::string& reduction,
                                std::vector<double> samples) {
    auto m = measurement_of(name, axis, reduction);
    m.samples = std::move(samples);
    m.summary = stats::summarise(m.samples);
    return m;
}

results::Measurement rate(std::string_view name, const std::string& axis, const std::vector<double>& counts,
                          const std::vector<double>& costs) {
    auto m = measurement_of(name, axis, "sum");
    m.summary = stats::summarise_rate(counts, costs);
    for (std::size_t i = 0; i < costs.size(); ++i) m.samples.push_back(counts[i] / costs[i]);
    return m;
}

}  // namespace ranklab::experiments
