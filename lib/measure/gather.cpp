#include "measure/gather.hpp"

#include <algorithm>
#include <numeric>

namespace ranklab::measure {
namespace {

constexpr std::size_t kPieceValues = std::size_t{1} << 15U;  // of all ranks

// Calls `take` with one row of all ranks after the other.
template <class Take>
void visit_rows(comm::Communicator& control, std::span<const double> mine, Take take) {
    const auto ranks = static_cast<std::size_t>(control.world_size());
    const std::size_t most = std::max<std::size_t>(1, kPieceValues / ranks);
    std::vector<double> by_rank, row(ranks);
    for (; !mine.empty(); mine = mine.subspan(std::min(most, mine.size()))) {
        const auto piece = mine.first(std::min(most, mine.size()));
        by_rank.resize(piece.size() * ranks);
        control.allgather(comm::view(piece), comm::view(std::span(by_rank)));
        for (std::size_t i = 0; i < piece.size(); ++i) {
            for (std::size_t rank = 0; rank < ranks; ++rank) row[rank] = by_rank[rank * piece.size() + i];
            take(std::span<const double>(row));
        }
    }
}

}  // namespace

RankSamples gather_columns(comm::Communicator& control, std::span<const double> mine) {
    RankSamples all{static_cast<std::size_t>(control.world_size()), {}};
    all.values.reserve(mine.size() * all.ranks);
    visit_rows(control, mine, [&](std::span<const double> row) {
        all.values.insert(all.values.end(), row.begin(), row.end());
    });
    return all;
}

RankSamples gather_samples(comm::Communicator& control, std::span<const double> mine, std::size_t ranks) {
    const bool has_all = control.rank() == 0;
    RankSamples samples{has_all ? ranks : 1, {}};
    samples.values.reserve(mine.size() * samples.ranks);
    visit_rows(control, mine, [&](std::span<const double> row) {
        const auto some = row.first(ranks);
        if (has_all)
            samples.values.insert(samples.values.end(), some.begin(), some.end());
        else
            samples.values.push_back(*std::ranges::max_element(some));
    });
    return samples;
}

std::vector<double> largest_of_ranks(comm::Communicator& control, std::vector<double> mine) {
    control.allreduce(comm::view(std::span(mine)), comm::ReduceOp::max);
    return mine;
}

std::vector<double> sums_of_ranks(comm::Communicator& control, std::vector<double> mine) {
    control.allreduce(comm::view(std::span(mine)), comm::ReduceOp::sum);
    return mine;
}

std::vector<double> ordered_sums_of_ranks(comm::Communicator& control, std::span<const double> mine) {
    std::vector<double> sums;
    visit_rows(control, mine, [&](std::span<const double> row) {
        sums.push_back(std::accumulate(row.begin(), row.end(), 0.0));
    });
    return sums;
}

}  // namespace ranklab::measure
