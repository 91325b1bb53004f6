// Brings every rank's samples together over the control plane, and folds them over ranks.
#pragma once

#include <vector>

#include "comm/communicator.hpp"

namespace ranklab::measure {

/// rows x ranks, row-major.
struct RankSamples {
    std::size_t ranks = 1;
    std::vector<double> values;

    std::size_t rows() const { return ranks == 0 ? 0 : values.size() / ranks; }
    double at(std::size_t row, std::size_t rank) const { return values[row * ranks + rank]; }
    std::vector<double> mean_over_rows() const;  ///< one per rank
    RankSamples rows_from(std::size_t begin, std::size_t end) const;
};

/// Every rank's column of equal length; the result is the same on every rank. For what needs each rank's
/// value: rows x ranks arrive at every rank.
RankSamples gather_columns(comm::Communicator& control, const std::vector<double>& mine);

/// Of each row the largest of the ranks' values, and their sum: one reduction of the whole column. The bits
/// of a sum may depend on where ranks lie; gather_sums (series.hpp) has one whose bits do not.
std::vector<double> largest_of_ranks(comm::Communicator& control, std::vector<double> mine);
std::vector<double> sums_of_ranks(comm::Communicator& control, std::vector<double> mine);

}  // namespace ranklab::measure
