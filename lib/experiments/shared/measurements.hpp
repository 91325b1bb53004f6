// Samples become measurements: name, unit and kind are the vocabulary's.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/samples.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// A run of up to so many ranks stores each rank's samples; one of more stores the rows' maxima
/// over ranks, and a summary of each rank (table `rank_summaries`). No number of the answer depends
/// on it.
inline constexpr int kMostRanksStored = 64;

/// The value of each row: a member, or what a function makes of the row.
template <class Rows, class Value>
std::vector<double> column_of(const Rows& rows, Value value) {
    std::vector<double> values;
    values.reserve(rows.size());
    for (const auto& row : rows) values.push_back(static_cast<double>(std::invoke(value, row)));
    return values;
}

/// A column per rank (or per replica): the summary is of the maximum in each row from `warmup` on.
results::Measurement by_rank(std::string_view name, const std::string& axis,
                             measure::RankSamples all, std::size_t warmup = 0);

/// One value a row, already folded over ranks; the rows before `warmup` are not counted.
results::Measurement one_column(std::string_view name, const std::string& axis,
                                const std::string& reduction, std::vector<double> samples,
                                std::size_t warmup = 0);

/// counts[i] / costs[i] of each row; the summary's mean is sum over sum.
results::Measurement rate(std::string_view name, const std::string& axis,
                          std::span<const double> counts, std::span<const double> costs);

/// Adds measurements of which each rank has a part. Collective: all ranks call the same verbs in
/// the same order, with as many rows. Summaries are the same on all ranks; the ranks' columns are
/// on rank 0 alone.
class RankMeasurements {
  public:
    /// `participants`: ranks 0 .. participants - 1 count; 0: all.
    RankMeasurements(results::Run& run, comm::Communicator& control, int participants = 0,
                     int most_stored = kMostRanksStored);

    /// From now on so many ranks count; 0: all.
    void count(int participants);

    /// The largest of the ranks' values, and their sum, in each row.
    std::vector<double> largest(std::vector<double> mine) const;
    std::vector<double> sums(std::vector<double> mine) const;

    /// The summary is of the maximum over ranks in each row from `warmup` on.
    void add(std::string_view name, const std::string& axis, std::span<const double> mine,
             std::size_t warmup = 0);
    /// One value per rank.
    void add_of_run(std::string_view name, double mine) { add(name, "run", {&mine, 1}); }
    /// Load imbalance of a cost of each rank.
    void add_imbalance(double my_cost);

    /// To be called last: adds the table of the ranks' summaries, where the run has more ranks than
    /// it stores.
    void finish();

  private:
    bool counts() const { return control_.rank() < participants_; }
    void add_summaries(std::string_view name, std::span<const double> counted);

    results::Run& run_;
    comm::Communicator& control_;
    int participants_ = 0;
    bool stores_each_;
    results::Rows summaries_{"rank_summaries"};
};

}  // namespace ranklab::experiments
