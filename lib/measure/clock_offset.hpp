// The offsets between the ranks' clocks, to convert times of one rank to another's clock.
#pragma once

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "comm/communicator.hpp"

namespace ranklab::measure {

/// The time of base::Clock in this process, in seconds.
inline double clock_seconds() {
    return base::seconds_of(base::Clock::now().time_since_epoch());
}

/// The offset of a rank's clock.
struct ClockOffset {
    double offset_s = 0;  ///< this rank's clock minus rank 0's
    /// Half the shortest round trip, which bounds the offset's error; 0 for rank 0.
    double error_s = 0;
    double at_s = 0;  ///< time of the measurement, by this rank's clock
};

/// The clock offsets of a job's ranks. Rank 0 exchanges messages with one rank per host and takes
/// the shortest round trip (Cristian 1989). Ranks of one host share the clock and the offset. On
/// rank 0's host another rank is measured, too, which shows the error of the method.
class JobClocks {
  public:
    /// Measures the offsets over `control`, which must be of the backend mpi or have one rank.
    /// `hosts`: each rank's host name. Collective.
    JobClocks(comm::Communicator& control, std::vector<std::string> hosts);

    /// Measures again if there are several hosts and the offsets are some seconds old. Collective.
    void refresh();

    /// By rank; equal on all ranks.
    const std::vector<ClockOffset>& offsets() const { return offsets_; }
    /// This rank's clock minus rank 0's.
    double mine() const { return offsets_[static_cast<std::size_t>(control_.rank())].offset_s; }
    /// Bound on the error, in seconds, of comparing times of two ranks: the largest error of an
    /// offset, plus with several hosts the drift since the measurement (of at least 3 s).
    double error_s() const;

  private:
    void measure();

    comm::Communicator& control_;
    std::vector<std::string> hosts_;
    bool several_hosts_;
    std::vector<ClockOffset> offsets_;
};

/// The shortest difference above 0 between two readings of the clock, in seconds.
double clock_resolution();

}  // namespace ranklab::measure
