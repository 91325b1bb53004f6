#include "experiments/shared/series_measurements.hpp"

#include <algorithm>

#include "stats/series.hpp"

namespace ranklab::experiments {
namespace {

using measure::RankSeries;
using results::Measurement;

class SpooledSamples final : public results::SampleSource {
  public:
    SpooledSamples(const RankSeries& series, std::size_t first) : series_(series), first_(first) {}
    std::size_t rows() const override { return series_.rows() - first_; }
    std::size_t columns() const override { return series_.ranks(); }
    void read(std::size_t first, std::span<double> to) const override {
        series_.spool()->read(first_ + first, to);
    }

  private:
    RankSeries series_;
    std::size_t first_;
};

// A Source of one column, read as it is.
std::shared_ptr<const SpooledSamples> rows_from(const RankSeries& series, std::size_t first) {
    return std::make_shared<SpooledSamples>(series, first);
}

Measurement long_measurement(std::string_view name, const std::string& axis, const std::string& reduction,
                             const RankSeries& all, std::size_t warmup) {
    auto m = measurement_of(name, axis, reduction, all.ranks());
    if (!all.here()) return m;
    m.warmup = all.head(0, warmup).values;
    m.summary = summary_from(all.ranks() == 1 ? all : max_over_ranks(all), warmup);
    m.stream = rows_from(all, warmup);
    return m;
}

}  // namespace

Measurement by_rank(std::string_view name, const std::string& axis, const RankSeries& all,
                    std::size_t warmup) {
    if (all.is_short()) return by_rank(name, axis, all.head(0, all.rows()), warmup);
    return long_measurement(name, axis, "max", all, warmup);
}

Measurement one_column(std::string_view name, const std::string& axis, const std::string& reduction,
                       const RankSeries& all, std::size_t warmup) {
    if (!all.is_short()) return long_measurement(name, axis, reduction, all, warmup);
    auto m = one_column(name, axis, reduction, all.head(warmup, all.rows()).values);
    m.warmup = all.head(0, warmup).values;
    return m;
}

Measurement rate(std::string_view name, const std::string& axis, const RankSeries& counts,
                 const RankSeries& costs, std::size_t warmup) {
    const RankSeries slowest = max_over_ranks(costs);
    if (slowest.is_short() && (costs.here() || costs.is_short()))
        return rate(name, axis, counts.head(warmup, counts.rows()).values,
                    slowest.head(warmup, slowest.rows()).values);
    measure::SeriesMaker rates;
    slowest.visit(warmup, [&](std::span<const double> piece, std::size_t row) {
        const auto numbers = counts.head(row, piece.size()).values;
        for (std::size_t i = 0; i < piece.size(); ++i) rates.push(numbers[i] / piece[i]);
    });
    auto m = long_measurement(
        name, axis, "sum", costs.here() ? rates.series() : RankSeries(1, costs.rows() - warmup, nullptr), 0);
    if (costs.here()) m.summary.mean = counts.sum(warmup) / slowest.sum(warmup);
    return m;
}

// The same however many ranks' samples are kept beside it: what is short is never streamed.
stats::Summary summary_from(const RankSeries& one_column, std::size_t first) {
    if (one_column.is_short()) return stats::summarise(one_column.head(first, one_column.rows()).values);
    return stats::summarise(results::LargestOfRows(*rows_from(one_column, first)));
}

RankSeries max_over_ranks(const RankSeries& series) {
    if (!series.here()) return {1, series.rows(), nullptr};
    measure::SeriesMaker largest;
    const std::size_t ranks = series.ranks();
    series.visit(0, [&](std::span<const double> piece, std::size_t) {
        for (std::size_t i = 0; i < piece.size(); i += ranks)
            largest.push(*std::max_element(&piece[i], &piece[i] + ranks));
    });
    return largest.series();
}

}  // namespace ranklab::experiments
