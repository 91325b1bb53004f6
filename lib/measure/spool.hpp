// Rows of numbers of a run whose length nobody knows beforehand: kept in memory up to a bound, beyond that in
// a temporary file without a name.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace ranklab::measure {

/// Values that a spool keeps in memory before it begins to write the oldest of them to a file, and the
/// longest measurement (rows x ranks) that is held whole: 2 MiB.
inline constexpr std::size_t kMostHeldValues = std::size_t{1} << 18U;

class Spool {
  public:
    /// The file is made in `folder` (default: the system's temporary folder, $TMPDIR) when it is needed, and
    /// has no name there: it is gone with this object, however the process ends.
    explicit Spool(std::size_t columns, std::size_t most_held = kMostHeldValues, std::string folder = "");

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }

    /// One row of columns() values. Copies it; now and then it allocates or writes a block of 256 KiB, which
    /// goes into the page cache.
    void push(std::span<const double> row);
    /// Replaces one value of the last row.
    void amend(std::size_t column, double value);
    /// The rows from `first` on that fit into `to`, whose size is whole rows that are there.
    void read(std::size_t first, std::span<double> to) const;

    /// Rows in memory now.
    std::size_t held_rows() const { return rows_ - written_blocks_ * block_rows_; }
    /// "" or why the file could not take more: all rows since are in memory, and nothing is lost.
    const std::string& trouble() const { return trouble_; }

  private:
    void make_room();
    bool spill_oldest();
    void open_file();
    void read_block(std::size_t block, std::size_t row, std::span<double> to) const;

    std::size_t columns_, block_rows_, most_blocks_;
    std::string folder_;
    std::size_t rows_ = 0;
    std::size_t written_blocks_ = 0;
    std::deque<std::unique_ptr<double[]>> held_;  // blocks written_blocks_ ..
    base::Descriptor file_;
    std::string trouble_;
};

}  // namespace ranklab::measure
