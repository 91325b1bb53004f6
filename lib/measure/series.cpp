#include "measure/series.hpp"

#include <algorithm>
#include <numeric>

#include "base/cast.hpp"

namespace ranklab::measure {
namespace {

// Values in one exchange, of all ranks, and in one piece of a visit.
constexpr std::size_t kPieceValues = std::size_t{1} << 15U;

std::size_t rows_of_a_piece(std::size_t columns) {
    return std::max<std::size_t>(1, kPieceValues / std::max<std::size_t>(1, columns));
}

// by_rank holds each rank's rows x columns, one rank after the other.
void deal(const std::vector<double>& by_rank, std::size_t rows, std::size_t ranks,
          std::vector<std::shared_ptr<Spool>>& to) {
    const std::size_t columns = to.size();
    std::vector<double> row(ranks);
    for (std::size_t column = 0; column < columns; ++column) {
        for (std::size_t r = 0; r < rows; ++r) {
            for (std::size_t rank = 0; rank < ranks; ++rank)
                row[rank] = by_rank[(rank * rows + r) * columns + column];
            to[column]->push(row);
        }
    }
}

}  // namespace

void RankSeries::visit(std::size_t first,
                       const std::function<void(std::span<const double>, std::size_t)>& take) const {
    if (!here()) return;
    std::vector<double> piece;
    while (first < rows_) {
        const std::size_t rows = std::min(rows_of_a_piece(ranks_), rows_ - first);
        piece.resize(rows * ranks_);
        values_->read(first, piece);
        take(piece, first);
        first += rows;
    }
}

RankSamples RankSeries::head(std::size_t first, std::size_t count) const {
    RankSamples samples{ranks_, {}};
    if (!here() || first >= rows_ || ranks_ == 0) return samples;
    samples.values.resize(std::min(count, rows_ - first) * ranks_);
    values_->read(first, samples.values);
    return samples;
}

std::vector<double> RankSeries::mean_over_rows(std::size_t first) const {
    std::vector<double> means(ranks_, 0.0);
    visit(first, [&](std::span<const double> piece, std::size_t) {
        for (std::size_t i = 0; i < piece.size(); ++i) means[i % ranks_] += piece[i];
    });
    if (here() && first < rows_)
        for (double& mean : means) mean /= base::real(rows_ - first);
    return means;
}

double RankSeries::sum(std::size_t first) const {
    double total = 0;
    visit(first, [&](std::span<const double> piece, std::size_t) {
        total = std::accumulate(piece.begin(), piece.end(), total);
    });
    return total;
}

std::vector<RankSeries> gather_spools(comm::Communicator& control, const Spool& mine) {
    const std::size_t ranks = control.world_size();
    const std::size_t columns = mine.columns();
    const bool keeps = mine.rows() * ranks <= kMostHeldValues || control.rank() == 0;
    std::vector<std::shared_ptr<Spool>> spools(columns);
    if (keeps)
        for (auto& spool : spools) spool = std::make_shared<Spool>(ranks);
    std::vector<double> piece;
    std::vector<double> by_rank;
    for (std::size_t first = 0; first < mine.rows();) {
        const std::size_t rows = std::min(rows_of_a_piece(columns * ranks), mine.rows() - first);
        piece.resize(rows * columns);
        mine.read(first, piece);
        by_rank.resize(piece.size() * ranks);
        control.allgather(comm::view(std::span(std::as_const(piece))), comm::view(std::span(by_rank)));
        if (keeps) deal(by_rank, rows, ranks, spools);
        first += rows;
    }
    std::vector<RankSeries> series;
    for (auto& spool : spools) series.emplace_back(ranks, mine.rows(), std::move(spool));
    return series;
}

GatheredSteps beginning_of(const std::vector<RankSeries>& steps, std::size_t first) {
    const std::size_t rows = kMostHeldValues / std::max<std::size_t>(1, steps.front().ranks());
    GatheredSteps gathered{steps.front().head(first, rows), {}};
    for (std::size_t phase = 0; phase < base::kPhaseCount; ++phase)
        gathered.phases.push_back(steps[phase + 1].head(first, rows));
    return gathered;
}

RankSeries columns_of(const Spool& spool, std::size_t first_column, std::size_t columns) {
    auto some = std::make_shared<Spool>(columns);
    const RankSeries all(spool.columns(), spool.rows(), {std::shared_ptr<const void>(), &spool});
    all.visit(0, [&](std::span<const double> piece, std::size_t) {
        for (std::size_t row = first_column; row < piece.size(); row += spool.columns())
            some->push(piece.subspan(row, columns));
    });
    return {columns, spool.rows(), std::move(some)};
}

}  // namespace ranklab::measure
