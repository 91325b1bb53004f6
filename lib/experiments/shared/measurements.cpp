#include "experiments/shared/measurements.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/numbers.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

using measure::RankSamples;
using results::Measurement;

// Leaves the summary empty. The first `warmup` rows do not count.
Measurement measurement_of(std::string_view name, const std::string& axis,
                           const std::string& reduction, RankSamples all, std::size_t warmup = 0) {
    const auto& quantity = vocabulary::quantity(name);
    const auto counted = all.values.begin() + static_cast<std::ptrdiff_t>(warmup * all.ranks);
    Measurement m;
    m.name = name;
    m.unit = quantity.unit;
    m.kind = quantity.kind;
    m.rank_reduction = reduction;
    m.axis = axis;
    m.columns = all.ranks;
    m.warmup.assign(all.values.begin(), counted);
    all.values.erase(all.values.begin(), counted);
    m.samples = std::move(all.values);
    return m;
}

}  // namespace

Measurement by_rank(std::string_view name, const std::string& axis, RankSamples all,
                    std::size_t warmup) {
    auto m = measurement_of(name, axis, "max", std::move(all), warmup);
    m.summary = stats::summarise(m.largest_of_rows());
    return m;
}

Measurement one_column(std::string_view name, const std::string& axis, const std::string& reduction,
                       std::vector<double> samples, std::size_t warmup) {
    auto m = measurement_of(name, axis, reduction, {1, std::move(samples)}, warmup);
    m.summary = stats::summarise(m.samples);
    return m;
}

Measurement rate(std::string_view name, const std::string& axis, std::span<const double> counts,
                 std::span<const double> costs) {
    RankSamples rates;
    for (std::size_t i = 0; i < costs.size(); ++i) rates.values.push_back(counts[i] / costs[i]);
    auto m = measurement_of(name, axis, "sum", std::move(rates));
    m.summary = stats::summarise_rate(counts, costs);
    return m;
}

RankMeasurements::RankMeasurements(results::Run& run, comm::Communicator& control, int participants,
                                   int most_stored)
    : run_(run), control_(control), stores_each_(control.world_size() <= most_stored) {
    count(participants);
}

void RankMeasurements::count(int participants) {
    participants_ = participants > 0 ? participants : control_.world_size();
}

std::vector<double> RankMeasurements::largest(std::vector<double> mine) const {
    if (!counts()) std::ranges::fill(mine, -HUGE_VAL);
    return measure::largest_of_ranks(control_, std::move(mine));
}

std::vector<double> RankMeasurements::sums(std::vector<double> mine) const {
    if (!counts()) std::ranges::fill(mine, 0);
    return measure::sums_of_ranks(control_, std::move(mine));
}

void RankMeasurements::add(std::string_view name, const std::string& axis,
                           std::span<const double> mine, std::size_t warmup) {
    if (stores_each_) {
        auto all = measure::gather_samples(control_, mine, static_cast<std::size_t>(participants_));
        return run_.measurements.push_back(by_rank(name, axis, std::move(all), warmup));
    }
    RankSamples slowest{1, largest({mine.begin(), mine.end()})};
    run_.measurements.push_back(by_rank(name, axis, std::move(slowest), warmup));
    add_summaries(name, mine.subspan(warmup));
}

bool RankMeasurements::is_any(std::span<const double> mine) const {
    return largest({std::reduce(mine.begin(), mine.end())}).front() > 0;
}

void RankMeasurements::add_means_of(std::string_view name, const std::string& axis,
                                    std::span<const double> mine, std::span<const double> counts,
                                    std::size_t warmup) {
    auto means = measure::ordered_sums_of_ranks(control_, mine);
    for (std::size_t i = 0; i < means.size(); ++i) means[i] /= counts[i];
    run_.measurements.push_back(one_column(name, axis, "mean", std::move(means), warmup));
}

void RankMeasurements::add_summaries(std::string_view name, std::span<const double> counted) {
    const auto mine = stats::summarise(counted);
    const auto all = measure::gather_columns(
        control_, std::vector{base::real(mine.n), mine.median, mine.mean, mine.min, mine.max});
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(participants_); ++rank)
        summaries_.add({std::string(name), static_cast<std::int64_t>(rank),
                        static_cast<std::int64_t>(all.at(0, rank)), all.at(1, rank),
                        all.at(2, rank), all.at(3, rank), all.at(4, rank)});
}

void RankMeasurements::add_imbalance(double my_cost) {
    const auto all = measure::gather_columns(control_, {&my_cost, 1});
    const auto costs = std::span(all.values).first(static_cast<std::size_t>(participants_));
    run_.measurements.push_back(one_column(vocabulary::kLoadImbalance, "run", "max/mean-1",
                                           {stats::load_imbalance(costs)}));
}

void RankMeasurements::finish() {
    if (summaries_.size() > 0) run_.tables.push_back(std::move(summaries_).table());
}

}  // namespace ranklab::experiments
