// The columns of all ranks' spools brought together, block by block: long runs never lie whole in a rank's
// memory.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "comm/communicator.hpp"
#include "measure/gather.hpp"
#include "measure/spool.hpp"

namespace ranklab::measure {

/// Of `count` rows that are spread evenly over all `rows`, where the i-th lies; count <= rows.
inline std::size_t spread_row(std::size_t i, std::size_t count, std::size_t rows) {
    return (2 * i + 1) * rows / (2 * count);
}

/// rows x ranks of one quantity. Up to kMostHeldValues values every rank has them; of a longer series rank 0
/// alone, the others have its shape.
class RankSeries {
  public:
    RankSeries(std::size_t ranks, std::size_t rows, std::shared_ptr<const Spool> values)
        : ranks_(ranks), rows_(rows), values_(std::move(values)) {}

    std::size_t ranks() const { return ranks_; }
    std::size_t rows() const { return rows_; }
    /// Whether it is short enough for every rank, and for a vector.
    bool is_short() const { return ranks_ * rows_ <= kMostHeldValues; }
    /// Whether this rank has the values. Without them the verbs below see no rows.
    bool here() const { return values_ != nullptr; }
    const std::shared_ptr<const Spool>& spool() const { return values_; }

    /// Calls `take` with pieces of whole rows, row-major, from `first` on, and with the number of the piece's
    /// first row.
    void visit(std::size_t first,
               const std::function<void(std::span<const double> piece, std::size_t row)>& take) const;
    /// Rows first .. first + count - 1, fewer where it ends.
    RankSamples head(std::size_t first, std::size_t count) const;
    /// At most `count` rows from `first` on, spread evenly over all of them.
    RankSamples spread(std::size_t first, std::size_t count) const;
    std::vector<double> sums_over_rows(std::size_t first) const;  ///< one per rank, from that row on
    double sum(std::size_t first) const;                          ///< of all values from that row on

  private:
    std::size_t ranks_, rows_;
    std::shared_ptr<const Spool> values_;
};

/// Every column of the spools, which have equally many rows on all ranks. Collective, in pieces.
std::vector<RankSeries> gather_spools(comm::Communicator& control, const Spool& mine);

/// Of every column the largest of the ranks' values in each row: series of one column. Collective, in pieces;
/// rows x ranks exist on no rank.
std::vector<RankSeries> gather_largest(comm::Communicator& control, const Spool& mine);

/// The sums over ranks of one column, added up in their order, so that they are the same to the bit however
/// ranks lie. Collective, in pieces.
RankSeries gather_sums(comm::Communicator& control, const Spool& mine, std::size_t column);

/// Of every column of this rank's own spool the sum of the rows from `first` on.
std::vector<double> own_sums(const Spool& mine, std::size_t first);

/// Some columns of this rank's own spool, as if they were ranks.
RankSeries columns_of(const Spool& spool, std::size_t first_column, std::size_t columns);

/// A series of one column, made row by row of others.
class SeriesMaker {
  public:
    SeriesMaker() : values_(std::make_shared<Spool>(1)) {}
    void push(double value) { values_->push({&value, 1}); }
    RankSeries series() const { return {1, values_->rows(), values_}; }

  private:
    std::shared_ptr<Spool> values_;
};

}  // namespace ranklab::measure
