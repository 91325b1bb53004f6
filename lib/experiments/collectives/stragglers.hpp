// Stragglers among the calling ranks: other ranks wait for them, and the network is not the cause.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/collectives/calls.hpp"
#include "measure/samples.hpp"

namespace ranklab::experiments {

/// Seconds by which this rank began each call after the first rank of `control`; NaN if it had no
/// part. `offset_s`: of its clock. Collective.
std::vector<double> behind_the_first(const CallTimes& times, comm::Communicator& control,
                                     double offset_s);

/// Counts the barriers that a rank of `control` left before another one came, by more than
/// `error_s`. Ranks with NaN times have no part. Collective.
std::int64_t early_leavers(const CallTimes& times, comm::Communicator& control, double offset_s,
                           double error_s);

struct Straggler {
    int rank = -1;    ///< -1: none
    std::string how;  ///< a clause: "comes 20.1 ms after the others to 98 % of the calls"
};

/// Collects when ranks began their calls, on one clock.
class Arrivals {
  public:
    explicit Arrivals(std::size_t ranks) : late_(ranks), last_(ranks, 0) {}

    /// Rows are calls, columns are ranks: seconds after the first rank; NaN for ranks without a
    /// part. `error_s`: of comparing moments of two ranks.
    void add(const measure::RankSamples& behind, double error_s);

    /// Median seconds after the first rank; NaN without calls.
    double late_s(std::size_t rank) const;
    /// Share of calls that the rank began last, by more than the clocks' error; NaN without calls.
    double last_share(std::size_t rank) const;
    /// Median over calls of the seconds from the first to the last rank; NaN without calls.
    double skew_s() const;
    /// A rank that is last in at least half of the calls, far later than the second latest. None
    /// if there are few calls.
    Straggler straggler() const;

  private:
    double error_s_ = 0;                     // the largest that add() got
    std::vector<std::vector<double>> late_;  // by rank: seconds, of the newest calls
    std::vector<std::size_t> last_;          // by rank: calls that it began last
    std::vector<double> skews_;
    std::size_t calls_ = 0;
};

}  // namespace ranklab::experiments
