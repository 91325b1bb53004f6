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

/// Measures each host's offset from rank 0 by `rounds` round trips to one rank, of which the
/// shortest counts (Cristian 1989). Ranks of one host share the clock and the offset; on rank 0's
/// host another rank is measured, too, which shows the error of the method. `hosts`: host names by
/// rank. Collective, over the MPI backend or one rank. Returns offsets by rank, equal on all ranks.
std::vector<ClockOffset> clock_offsets(comm::Communicator& control,
                                       const std::vector<std::string>& hosts, int rounds = 30);

/// The shortest difference above 0 between readings of the clock.
double clock_resolution();

}  // namespace ranklab::measure
