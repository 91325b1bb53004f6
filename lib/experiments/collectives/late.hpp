// Stragglers in the calls: the time that other ranks wait for them is not the network's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/collectives/calls.hpp"
#include "measure/samples.hpp"

namespace ranklab::experiments {

/// The seconds by which this rank came to each call after the first of these ranks; NaN where it
/// had no part. `offset_s`: its clock's. Collective.
std::vector<double> behind_the_first(const CallTimes& times, comm::Communicator& control,
                                     double offset_s);

/// Counts the calls of a barrier that one of these ranks left before another one came, by more than
/// `error_s`; ranks without calls have no part. Collective.
std::int64_t early_leavers(const CallTimes& times, comm::Communicator& control, double offset_s,
                           double error_s);

struct Straggler {
    int rank = -1;    ///< -1: none is late
    std::string how;  ///< a clause: "comes 20.1 ms after the others to 98 % of the calls"
};

/// Collects the moments at which ranks came to calls, on one clock.
class Arrivals {
  public:
    explicit Arrivals(std::size_t ranks) : late_(ranks), last_(ranks, 0) {}

    /// Rows are calls, columns ranks: how long after the first rank each came; NaN for ranks
    /// without a part. `error_s`: the error of two ranks' moments.
    void add(const measure::RankSamples& behind, double error_s);

    /// Median lateness behind the first rank; NaN without calls.
    double late_s(std::size_t rank) const;
    /// Share of the calls to which it came last, by more than the clocks' error; NaN without calls.
    double last_share(std::size_t rank) const;
    /// Median of how long after the first rank the last one came; NaN without calls.
    double skew_s() const;
    /// The rank that most calls wait for. Few calls give no verdict.
    Straggler verdict() const;

  private:
    double error_s_ = 0;                     // the largest
    std::vector<std::vector<double>> late_;  // by rank, the newest calls
    std::vector<std::size_t> last_;          // by rank: calls to which it came last
    std::vector<double> skews_;
    std::size_t calls_ = 0;
};

}  // namespace ranklab::experiments
