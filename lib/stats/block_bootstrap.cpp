#include "stats/block_bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "stats/distributions.hpp"
#include "stats/random.hpp"

namespace ranklab::stats {
namespace {

constexpr std::size_t kMostUnits = 2000;
constexpr std::size_t kGrid = 512;
constexpr std::size_t kResamples = 1000;
constexpr std::uint64_t kSeed = 20261122;

// Candidates for the median: some order statistics around it, as far as a median can stray. A resampled
// median is rounded to one of these, which are a fiftieth of its standard deviation apart, or nearer.
std::vector<double> grid_around_median(std::span<const double> samples, double inflation) {
    std::vector<double> x(samples.begin(), samples.end());
    const double n = static_cast<double>(x.size());
    const double half = std::min(n / 2, std::ceil(4 * std::sqrt(n * inflation)));
    const auto first = static_cast<std::ptrdiff_t>(std::max(0.0, std::floor(n / 2 - half)));
    const auto last = static_cast<std::ptrdiff_t>(std::min(n, std::ceil(n / 2 + half)));
    std::nth_element(x.begin(), x.begin() + first, x.end());
    if (last < static_cast<std::ptrdiff_t>(x.size()))
        std::nth_element(x.begin() + first, x.begin() + last, x.end());
    std::sort(x.begin() + first, x.begin() + last);
    const auto width = static_cast<std::size_t>(last - first);
    const std::size_t cells = std::min(kGrid, width);
    std::vector<double> grid(cells);
    for (std::size_t k = 0; k < cells; ++k)
        grid[k] = x[static_cast<std::size_t>(first) + (k + 1) * width / cells - 1];
    grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
    return grid;
}

// How many samples of units 0 .. u - 1 are at most grid[k], for every u and k: a block of units is the
// difference of two rows.
class Counts {
  public:
    Counts(std::span<const double> samples, const std::vector<double>& grid, std::size_t unit)
        : columns_(grid.size()), units_((samples.size() + unit - 1) / unit) {
        rows_.assign((units_ + 1) * columns_, 0);
        size_.assign(units_ + 1, 0);
        for (std::size_t u = 0; u < units_; ++u) {
            const auto piece = samples.subspan(u * unit, std::min(unit, samples.size() - u * unit));
            std::uint32_t* row = &rows_[(u + 1) * columns_];
            for (const double x : piece) {
                const auto cell = std::lower_bound(grid.begin(), grid.end(), x) - grid.begin();
                if (static_cast<std::size_t>(cell) < columns_) ++row[cell];
            }
            std::uint32_t sum = 0;
            for (std::size_t k = 0; k < columns_; ++k) {
                sum += row[k];
                row[k] = sum + rows_[u * columns_ + k];
            }
            size_[u + 1] = size_[u] + piece.size();
        }
    }
    std::size_t units() const { return units_; }
    std::size_t columns() const { return columns_; }
    std::size_t size(std::size_t from, std::size_t to) const { return size_[to] - size_[from]; }
    std::size_t at_most(std::size_t k, std::size_t from, std::size_t to) const {
        return rows_[to * columns_ + k] - rows_[from * columns_ + k];
    }

  private:
    std::size_t columns_, units_;
    std::vector<std::uint32_t> rows_;
    std::vector<std::size_t> size_;
};

// One resample: blocks that begin anywhere, the series taken as a circle.
class Resample {
  public:
    Resample(const Counts& counts, std::size_t length) : counts_(counts), length_(length) {}

    void draw(Random& random) {
        pieces_.clear();
        size_ = 0;
        const std::size_t units = counts_.units();
        for (std::size_t drawn = 0; drawn < units; drawn += length_) {
            const std::size_t begin = random.index(units);
            const std::size_t end = begin + std::min(length_, units - drawn);
            add(begin, std::min(end, units));
            if (end > units) add(0, end - units);
        }
    }
    // The cell of the median: between two cells where the half falls between two samples.
    double median_cell() const {
        std::size_t low = 0;
        std::size_t high = counts_.columns() - 1;
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (2 * at_most(middle) >= size_)
                high = middle;
            else
                low = middle + 1;
        }
        const bool even = 2 * at_most(low) == size_ && low + 1 < counts_.columns();
        return static_cast<double>(low) + (even ? 0.5 : 0);
    }

  private:
    struct Piece {
        std::size_t from, to;
    };
    void add(std::size_t from, std::size_t to) {
        pieces_.push_back({from, to});
        size_ += counts_.size(from, to);
    }
    std::size_t at_most(std::size_t k) const {
        std::size_t sum = 0;
        for (const Piece& piece : pieces_) sum += counts_.at_most(k, piece.from, piece.to);
        return sum;
    }

    const Counts& counts_;
    std::size_t length_;
    std::vector<Piece> pieces_;
    std::size_t size_ = 0;
};

double value_of_cell(const std::vector<double>& grid, double cell) {
    const auto k = static_cast<std::size_t>(cell);
    return k + 1 < grid.size() && cell > static_cast<double>(k) ? (grid[k] + grid[k + 1]) / 2 : grid[k];
}

}  // namespace

Interval block_bootstrap_median(std::span<const double> samples, double block_length, double level) {
    const std::size_t n = samples.size();
    const std::size_t unit = (n + kMostUnits - 1) / kMostUnits;
    // Four blocks at least: fewer tell nothing about how blocks differ.
    const double longest = std::max(1.0, static_cast<double>(n) / 4);
    const double wanted = std::min(std::ceil(block_length), std::floor(longest));
    const auto length = static_cast<std::size_t>(std::ceil(wanted / static_cast<double>(unit)));
    const std::vector<double> grid = grid_around_median(samples, static_cast<double>(length * unit));
    const Counts counts(samples, grid, unit);
    const double blocks = static_cast<double>(counts.units()) / static_cast<double>(length);

    Random random(kSeed);
    Resample resample(counts, length);
    std::vector<double> cells(kResamples);
    for (double& cell : cells) {
        resample.draw(random);
        cell = resample.median_cell();
    }
    // Expanded percentiles: few blocks vary less among themselves than they should (Hesterberg, What teachers
    // should know about the bootstrap, The American Statistician 69, 2015).
    const double t = student_quantile((1 + level) / 2, std::max(3.0, blocks - 1));
    const double tail = normal_cdf(-t * std::sqrt(blocks / (blocks - 1)));
    return {value_of_cell(grid, quantile(cells, tail)), value_of_cell(grid, quantile(cells, 1 - tail))};
}

}  // namespace ranklab::stats
