// Measurements of which each rank has its own part, kept as `keep-samples` says. Where it says less than all,
// the ranks' values are folded on the way: repetitions x ranks exist on no rank.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/shared/measurements.hpp"
#include "measure/series.hpp"
#include "results/kept_samples.hpp"

namespace ranklab::experiments {

/// Collective: all ranks call the same verbs in the same order, with as many rows.
class RankKeeper {
  public:
    /// `participants`: ranks 0 .. so many - 1 count; 0: all.
    RankKeeper(comm::Communicator& control, results::KeptSamples kept, int participants = 0);

    /// From now on so many ranks count; 0: all.
    void count(int participants);
    results::KeptSamples kept() const { return kept_; }

    /// The largest of the ranks' values, and their sum, in each row.
    std::vector<double> largest(const std::vector<double>& mine) const;
    std::vector<double> sums(const std::vector<double>& mine) const;
    /// By rank: the mean of its rows from `first` on; 0 without rows.
    std::vector<double> means(const std::vector<double>& mine, std::size_t first = 0) const;

    /// The summary is of the maximum over ranks in each row from `warmup` on.
    results::Measurement by_rank(std::string_view name, const std::string& axis,
                                 const std::vector<double>& mine, std::size_t warmup = 0);
    /// One value per rank of the whole run.
    results::Measurement of_run(std::string_view name, double mine);
    /// Columns of this rank's spool, as many and with as many rows on all ranks: a series a column, of all
    /// ranks' values where all are kept, else of their maxima.
    std::vector<measure::RankSeries> series(const measure::Spool& mine) const;
    /// What by_rank does of `all`, column `column` of series(mine).
    results::Measurement by_rank(std::string_view name, const std::string& axis,
                                 const measure::RankSeries& all, const measure::Spool& mine,
                                 std::size_t column, std::size_t warmup);

    /// Adds the table of the ranks' summaries where they are kept; takes away what has a row a rank where
    /// nothing of ranks is. Once, when all measurements and tables of the run are there.
    void finish(results::Run& run);

  private:
    struct Note {
        std::string name;
        int participants;
        stats::Summary mine;
    };

    bool counts() const;

    comm::Communicator& control_;
    results::KeptSamples kept_;
    int participants_ = 0;
    std::vector<Note> notes_;
};

}  // namespace ranklab::experiments
