#include "measure/series.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

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

RankSamples RankSeries::spread(std::size_t first, std::size_t count) const {
    if (first + count >= rows_) return head(first, count);
    RankSamples samples{ranks_, {}};
    std::size_t taken = 0;
    visit(first, [&](std::span<const double> piece, std::size_t row) {
        const std::size_t end = row + piece.size() / ranks_;
        for (; taken < count; ++taken) {
            const std::size_t next = first + spread_row(taken, count, rows_ - first);
            if (next >= end) return;
            const auto values = piece.subspan((next - row) * ranks_, ranks_);
            samples.values.insert(samples.values.end(), values.begin(), values.end());
        }
    });
    return samples;
}

std::vector<double> RankSeries::sums_over_rows(std::size_t first) const {
    std::vector<double> sums(ranks_, 0.0);
    visit(first, [&](std::span<const double> piece, std::size_t) {
        for (std::size_t i = 0; i < piece.size(); ++i) sums[i % ranks_] += piece[i];
    });
    return sums;
}

double RankSeries::sum(std::size_t first) const {
    double total = 0;
    visit(first, [&](std::span<const double> piece, std::size_t) {
        total = std::accumulate(piece.begin(), piece.end(), total);
    });
    return total;
}

namespace {

// Calls `take` with pieces of whole rows of a spool, and with the number of each piece's first row.
void pieces_of(const Spool& spool, std::size_t columns_at_once,
               const std::function<void(const std::vector<double>& piece, std::size_t rows)>& take) {
    std::vector<double> piece;
    for (std::size_t first = 0; first < spool.rows();) {
        const std::size_t rows = std::min(rows_of_a_piece(columns_at_once), spool.rows() - first);
        piece.resize(rows * spool.columns());
        spool.read(first, piece);
        take(piece, rows);
        first += rows;
    }
}

// A series that all ranks have where it is short, and rank 0 alone where it is long.
std::vector<std::shared_ptr<Spool>> kept_spools(const comm::Communicator& control, std::size_t count,
                                                std::size_t columns, std::size_t rows) {
    std::vector<std::shared_ptr<Spool>> spools(count);
    if (rows * columns <= kMostHeldValues || control.rank() == 0)
        for (auto& spool : spools) spool = std::make_shared<Spool>(columns);
    return spools;
}

std::vector<RankSeries> series_of(std::vector<std::shared_ptr<Spool>> spools, std::size_t columns,
                                  std::size_t rows) {
    std::vector<RankSeries> series;
    for (auto& spool : spools) series.emplace_back(columns, rows, std::move(spool));
    return series;
}

}  // namespace

std::vector<RankSeries> gather_spools(comm::Communicator& control, const Spool& mine) {
    const std::size_t ranks = control.world_size();
    auto spools = kept_spools(control, mine.columns(), ranks, mine.rows());
    std::vector<double> by_rank;
    pieces_of(mine, mine.columns() * ranks, [&](const std::vector<double>& piece, std::size_t rows) {
        by_rank.resize(piece.size() * ranks);
        control.allgather(comm::view(std::span(piece)), comm::view(std::span(by_rank)));
        if (spools.front()) deal(by_rank, rows, ranks, spools);
    });
    return series_of(std::move(spools), ranks, mine.rows());
}

std::vector<RankSeries> gather_largest(comm::Communicator& control, const Spool& mine) {
    auto spools = kept_spools(control, mine.columns(), 1, mine.rows());
    std::vector<double> largest;
    pieces_of(mine, mine.columns(), [&](const std::vector<double>& piece, std::size_t rows) {
        largest = piece;
        control.allreduce(comm::view(std::span(largest)), comm::ReduceOp::max);
        if (spools.front()) deal(largest, rows, 1, spools);
    });
    return series_of(std::move(spools), 1, mine.rows());
}

RankSeries gather_sums(comm::Communicator& control, const Spool& mine, std::size_t column) {
    const std::size_t ranks = control.world_size();
    const auto kept = kept_spools(control, 1, 1, mine.rows()).front();
    std::vector<double> some, by_rank;
    pieces_of(mine, std::max(mine.columns(), ranks), [&](const std::vector<double>& piece, std::size_t rows) {
        some.clear();
        for (std::size_t row = 0; row < rows; ++row) some.push_back(piece[row * mine.columns() + column]);
        by_rank.resize(rows * ranks);
        control.allgather(comm::view(std::span(std::as_const(some))), comm::view(std::span(by_rank)));
        for (std::size_t row = 0; kept && row < rows; ++row) {
            double sum = 0;
            for (std::size_t rank = 0; rank < ranks; ++rank) sum += by_rank[rank * rows + row];
            kept->push({&sum, 1});
        }
    });
    return {1, mine.rows(), kept};
}

std::vector<double> own_sums(const Spool& mine, std::size_t first) {
    return RankSeries(mine.columns(), mine.rows(), {std::shared_ptr<const void>(), &mine})
        .sums_over_rows(first);
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
