#include "measure/gather.hpp"

#include <span>

#include "base/cast.hpp"

namespace ranklab::measure {

std::vector<double> RankSamples::mean_over_rows() const {
    std::vector<double> means(ranks, 0.0);
    if (rows() == 0) return means;
    for (std::size_t row = 0; row < rows(); ++row) {
        for (std::size_t rank = 0; rank < ranks; ++rank) means[rank] += at(row, rank);
    }
    for (double& mean : means) mean /= base::real(rows());
    return means;
}

RankSamples RankSamples::rows_from(std::size_t begin, std::size_t end) const {
    return {ranks, std::vector<double>(values.begin() + begin * ranks, values.begin() + end * ranks)};
}

RankSamples gather_columns(comm::Communicator& control, const std::vector<double>& mine) {
    const std::size_t ranks = control.world_size();
    std::vector<double> by_rank(mine.size() * ranks);
    control.allgather(comm::view(std::span(mine)), comm::view(std::span(by_rank)));
    RankSamples samples{ranks, std::vector<double>(by_rank.size())};
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        for (std::size_t row = 0; row < mine.size(); ++row) {
            samples.values[row * ranks + rank] = by_rank[rank * mine.size() + row];
        }
    }
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

}  // namespace ranklab::measure
