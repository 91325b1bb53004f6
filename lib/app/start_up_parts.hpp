// The start-up of all ranks: which part took how long, and on which rank longest.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "host/start_up.hpp"

namespace ranklab::app {

struct StartUpPart {
    std::string name;
    double mean_s = 0, most_s = 0;  ///< over ranks
    int slowest_rank = 0;
};

/// Collective. Of the parts that all ranks have, in their order.
std::vector<StartUpPart> gather_parts(comm::Communicator& control, const host::StartUp& mine);

}  // namespace ranklab::app
