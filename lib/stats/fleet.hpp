// Which rows of a fleet (nodes, or links) are slower than the others. A row has one cost per round.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stats/summary.hpp"

namespace ranklab::stats {

/// Costs above 0 of one row, by round; NaN if a round lacks the row. All rows have equal length.
using RowCosts = std::vector<double>;

struct FleetTest {
    double min_effect = 0.05;  ///< smallest relative slowness of interest
    double alpha = 0.05;       ///< chance that any row is called slow without being so
    bool of_each_row = false;  ///< alpha holds for each row alone: for rows suspected before
};

struct RowEffect {
    double effect = kNone;  ///< 0.12: costs 12 % more than the fleet's median row
    std::size_t seen = 0;   ///< rounds in which the row was slower by min_effect
    std::size_t rounds = 0;
    bool slow = false;  ///< by at least min_effect, and by a one-sided test (Holm, or of_each_row)
};

struct Fleet {
    std::vector<RowEffect> rows;
    double spread = kNone;  ///< relative standard deviation of one measurement
};

/// The median of the costs that are not NaN; NaN if there are none.
double median_of_known(RowCosts costs);

/// A row's effect is its median over rounds against the fleet's median in each round, which removes
/// drift; with two rows against the faster one. Its error is the larger of what the spread within
/// rows gives and, from 8 rows on, the spread between rows; both are robust (MAD) and leave out
/// rows that are clearly slow. One row alone has no effect.
Fleet fleet_of(std::span<const RowCosts> costs, const FleetTest& test);

/// The fewest rounds, at least 10 and 2 ceil(log2 rows), with which fleet_of() and a second
/// measurement find a row that costs `effect` more in 95 % of the cases; at most `most`.
std::size_t rounds_to_find(double effect, std::size_t rows, double spread, const FleetTest& test,
                           std::size_t most);

/// How much more `now` costs than the median of the earlier values. NaN unless the increase reaches
/// min_effect and exceeds the scatter of the earlier values (Student's prediction interval,
/// one-sided alpha); NaN below 3 earlier values.
double slower_than_before(double now, std::span<const double> before, const FleetTest& test);

}  // namespace ranklab::stats
