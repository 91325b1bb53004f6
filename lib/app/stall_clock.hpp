// When a job has stalled: pure functions of what its ranks tell. docs/adr/0010-what-moves.md
#pragma once

#include <optional>
#include <string>

#include "base/motion.hpp"
#include "comm/standing.hpp"

namespace ranklab::app {

class StallClock {
  public:
    /// Stalled after `limit` seconds in which nothing moved, and after kMostPatience times as long where
    /// something unknown may have. Passes of more than twice `period` count as that: then this process was
    /// stopped itself, or the whole job, and has seen nothing of the time.
    StallClock(double limit, double period) : limit_(limit), period_(period) {}

    /// Seconds have passed in which the liveliest thing seen was `motion`. True once stalled.
    bool pass(double seconds, base::Motion motion);
    /// For how long a stall lasted, in terms of the limit.
    double limits() const { return still_ >= kMostPatience * limit_ ? kMostPatience : 1; }

    static constexpr double kMostPatience = 10;

  private:
    double limit_;
    double period_;
    double quiet_ = 0;  // nothing seen, nothing unknown
    double still_ = 0;  // nothing seen
};

/// "no progress for 300 s on any rank: rank 1 on node07 does not answer ...". `own` is what this rank does;
/// without `others` it is alone.
std::string stall_sentence(double seconds, int rank, const std::string& own,
                           const std::optional<comm::Standing>& others);

}  // namespace ranklab::app
