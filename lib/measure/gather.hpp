// Brings every rank's samples together over the control plane, and folds them over ranks.
#pragma once

#include <span>
#include <vector>

#include "comm/communicator.hpp"

namespace ranklab::measure {

/// rows x ranks, row-major.
struct RankSamples {
    std::size_t ranks = 1;
    std::vector<double> values;

    std::size_t rows() const { return ranks == 0 ? 0 : values.size() / ranks; }
    double at(std::size_t row, std::size_t rank) const { return values[row * ranks + rank]; }
};

// Collective; as many rows on all ranks. What is gathered is exchanged in pieces of 256 KiB, or of a row.

/// Every rank's column; the same on every rank. For what needs each rank's value everywhere.
RankSamples gather_columns(comm::Communicator& control, std::span<const double> mine);
/// The columns of ranks 0 .. ranks - 1 on rank 0. The other ranks get one column, the rows' maxima.
RankSamples gather_samples(comm::Communicator& control, std::span<const double> mine, std::size_t ranks);

/// In each row the largest of the ranks' values, and their sum: one reduction of the whole column. The bits
/// of a sum may depend on where ranks lie.
std::vector<double> largest_of_ranks(comm::Communicator& control, std::vector<double> mine);
std::vector<double> sums_of_ranks(comm::Communicator& control, std::vector<double> mine);
/// The sums, added up in the order of ranks: the same bits however ranks lie.
std::vector<double> ordered_sums_of_ranks(comm::Communicator& control, std::span<const double> mine);

}  // namespace ranklab::measure
