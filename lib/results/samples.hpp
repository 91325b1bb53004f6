// The samples of a run too long to be held: rows that can be read again, piece by piece.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "stats/series.hpp"

namespace ranklab::results {

/// A measurement of more samples than this is not loaded whole, but read through a SampleSource: 2 MiB.
inline constexpr std::size_t kMostHeldSamples = std::size_t{1} << 18U;

class SampleSource {
  public:
    virtual ~SampleSource() = default;
    virtual std::size_t rows() const = 0;
    virtual std::size_t columns() const = 0;
    /// The whole rows, row-major, from `first` on that fit into `to`.
    virtual void read(std::size_t first, std::span<double> to) const = 0;

    /// Calls `take` with one piece of rows after the other; a piece is at most 256 KiB, but always a row.
    void visit(const std::function<void(std::span<const double> rows)>& take) const {
        const std::size_t most = std::max<std::size_t>(1, 32768 / std::max<std::size_t>(1, columns()));
        std::vector<double> piece;
        for (std::size_t first = 0; first < rows(); first += most) {
            piece.resize(std::min(most, rows() - first) * columns());
            read(first, piece);
            take(piece);
        }
    }
};

/// One value a row for the statistics: the largest of its columns.
class LargestOfRows final : public stats::Source {
  public:
    explicit LargestOfRows(const SampleSource& samples) : samples_(samples) {}
    void visit(void (*take)(void*, std::span<const double>), void* state) const override {
        const std::size_t columns = samples_.columns();
        std::vector<double> largest;
        samples_.visit([&](std::span<const double> rows) {
            largest.clear();
            for (std::size_t i = 0; i < rows.size(); i += columns)
                largest.push_back(*std::max_element(&rows[i], &rows[i] + columns));
            take(state, largest);
        });
    }

  private:
    const SampleSource& samples_;
};

}  // namespace ranklab::results
