// How far the ranks' clocks are apart: moments of one rank in another one's time.
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

/// A rank's clock against rank 0's.
struct ClockOffset {
    double offset_s = 0;  ///< this rank's clock minus rank 0's
    /// Half the shortest round trip, which bounds the offset's error; 0 for rank 0.
    double error_s = 0;
    double at_s = 0;  ///< when it was taken, by this rank's clock
};

/// Asks one rank of each host in turn by `rounds` messages there and back, of which the quickest
/// counts (Cristian 1989). Ranks of one host read the same clock and share the offset. On rank 0's
/// host another rank is asked, which shows the error of the comparison. `hosts`: each rank's, by
/// name. Collective, over the MPI backend or one rank. Returns offsets by rank, the same on all
/// ranks.
std::vector<ClockOffset> clock_offsets(comm::Communicator& control,
                                       const std::vector<std::string>& hosts, int rounds = 30);

/// The shortest time above 0 that many readings of the clock show.
double clock_resolution();

}  // namespace ranklab::measure
